"""Environments in processes of their own, which tests can kill."""

import os
import resource
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.forked import ForkedProcess
from tests.integration.environment.conftest import ADMIN_KEY
from tests.ports import free_port


@contextmanager
def environment_process(
    snapshot: Path,
    *,
    log: Path | None = None,
    largest_file: int = resource.RLIM_INFINITY,
) -> Iterator[tuple[ForkedProcess, str]]:
    """A process that serves an environment, and its URL. The process is killed at the end if it still runs.

    `log` receives the process's standard error, by default that of the tests. `largest_file` limits the bytes of each
    file that it writes while it serves.
    """
    port = free_port()
    with started(snapshot, port, log=log) as process:
        url = f"http://127.0.0.1:{port}"
        await_health(process, url)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
        yield process, url


@contextmanager
def started(snapshot: Path, port: int, *, log: Path | None = None) -> Iterator[ForkedProcess]:
    """A process that was started and need not come to serve. The process is killed at the end if it still runs."""
    settings = {"UES_ADMIN_KEY": ADMIN_KEY, "CONCORD_SNAPSHOT_FILE": str(snapshot), "CONCORD_LOG_LEVEL": "WARNING"}
    variables = {**os.environ, **settings}
    process = ForkedProcess("concord_environment", "--port", str(port), env=variables, stderr=log)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def await_health(process: "ForkedProcess | subprocess.Popen[bytes]", url: str, limit_s: float = 60) -> None:
    """Waits until the process serves. Raises AssertionError if it ends or takes too long."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        assert process.poll() is None
        try:
            if httpx.get(f"{url}/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("it does not serve")
