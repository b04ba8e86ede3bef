"""Agents in processes of their own, for programs whose teams talk over HTTP."""

import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import uvicorn
from opentelemetry.instrumentation.starlette import StarletteInstrumentor
from starlette.applications import Starlette

_DEADLINE_S = 30.0


def free_port() -> int:
    """A port of this machine that no process listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def served(role: str, ports: tuple[int, ...], path: Path) -> Iterator[str]:
    """The URL of this program as an agent: in another process, with these ports, its own first, and this file."""
    url = f"http://127.0.0.1:{ports[0]}"
    server = subprocess.Popen([sys.executable, sys.argv[0], role, ",".join(map(str, ports)), path])
    try:
        _await(f"{url}/.well-known/agent-card.json")
        yield url
    finally:
        server.send_signal(signal.SIGINT)
        server.wait()


def _await(url: str) -> None:
    deadline = time.monotonic() + _DEADLINE_S
    while True:
        try:
            urllib.request.urlopen(url).close()  # noqa: S310
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
        else:
            return


def serve(app: Starlette, port: int) -> None:
    """Serves an app with spans of HTTP until the process is interrupted."""
    StarletteInstrumentor.instrument_app(app)
    with suppress(KeyboardInterrupt):
        uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")
