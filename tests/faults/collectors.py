"""A collector in a process of its own, which tests can kill and start again on its port."""

import signal
import subprocess
from pathlib import Path

from tests.kit.ports import free_port
from tests.kit.programs import await_answer, start


class CollectorProcess:
    """A collector that logs to a file."""

    def __init__(self, redis_url: str, log: Path, **environment: str) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = log
        self._environment = {"REDIS_URL": redis_url, "CONCORD_LOG_LEVEL": "ERROR"} | environment
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the process and waits until it answers."""
        self._process = start(
            "concord_collector", "--port", str(self.port), log=self._log, environment=self._environment
        )
        await_answer(self._process, f"{self.url}/healthz")

    def signal(self, number: int) -> None:
        assert self._process is not None
        self._process.send_signal(number)

    def wait(self) -> int:
        """Waits for the process to end and returns its exit code."""
        assert self._process is not None
        return self._process.wait(60)

    def kill(self) -> None:
        """Sends SIGKILL and waits for the end."""
        self.signal(signal.SIGKILL)
        self.wait()

    def stop(self) -> None:
        """Kills the process if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self.kill()
