"""Connections that send no request do not keep a gateway of few descriptors from answering."""

import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from tests.kit.ports import free_port
from tests.kit.programs import await_answer

FILES = 256
"""The limit of open files on macOS, which nothing may raise here."""


@pytest.mark.parametrize("beginning", [b"", b"GET / HT"], ids=["nothing", "half a head"])
def test_more_silent_connections_than_open_files_leave_the_gateway_answering(
    redis_url: str, tmp_path: Path, beginning: bytes
) -> None:
    port, log = free_port(), tmp_path / "gateway.log"
    limited = ["sh", "-c", f'ulimit -n {FILES}; exec "$@"', "sh", sys.executable, "-m", "concord_gateway"]
    settings = {"REDIS_URL": redis_url, "CONCORD_OUTPUT_DIR": str(tmp_path / "output"), "PATH": "/usr/bin:/bin"}
    with log.open("ab") as output, ExitStack() as exits:
        process = subprocess.Popen([*limited, "--port", str(port)], env=settings, stdout=output, stderr=output)
        exits.callback(process.wait)
        exits.callback(process.kill)
        await_answer(process, f"http://127.0.0.1:{port}/healthz")
        for _ in range(2 * FILES):
            each = exits.enter_context(socket.create_connection(("127.0.0.1", port)))
            each.sendall(beginning)
        for _ in range(3):
            assert httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=10).is_success
        assert process.poll() is None
    assert "Too many open files" not in log.read_text()
