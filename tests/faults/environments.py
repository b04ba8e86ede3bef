"""Environments in processes of their own, which tests can kill."""

import resource
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from tests.integration.environment.conftest import ADMIN_KEY
from tests.kit.ports import free_port
from tests.kit.programs import await_answer, program


@contextmanager
def environment_process(
    snapshot: Path, log: Path, *, largest_file: int = resource.RLIM_INFINITY
) -> Iterator[tuple["subprocess.Popen[bytes]", str]]:
    """A process that serves an environment, and its URL. The process is killed at the end if it still runs.

    `log` receives the process's output. `largest_file` limits the bytes of each file that it writes while it serves.
    """
    port = free_port()
    with started(snapshot, port, log) as process:
        url = f"http://127.0.0.1:{port}"
        await_answer(process, f"{url}/health")
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (largest_file, largest_file))
        yield process, url


def started(snapshot: Path, port: int, log: Path) -> AbstractContextManager["subprocess.Popen[bytes]"]:
    """A process that was started and need not come to serve. The process is killed at the end if it still runs."""
    settings = {"UES_ADMIN_KEY": ADMIN_KEY, "CONCORD_SNAPSHOT_FILE": str(snapshot), "CONCORD_LOG_LEVEL": "WARNING"}
    return program("concord_environment", "--port", str(port), log=log, **settings)
