"""Real Redis servers for tests: a shared one, and private ones that may be killed."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import redis

from concord_cli.stack.redis import choose_redis
from tests.kit.ports import free_port

READY_S = 15.0


def chosen() -> str:
    """The server of the tests in `CONCORD_TEST_REDIS`: a server's program, or the URL of a running server, whose data
    the tests delete. "": the packaged Valkey."""
    return os.environ.get("CONCORD_TEST_REDIS", "")


def containers_required() -> bool:
    """Whether `REQUIRE_CONTAINERS=1` makes a missing container engine an error."""
    return os.environ.get("REQUIRE_CONTAINERS") == "1"


def engine_answers() -> bool:
    """Whether a container engine runs on this machine."""
    docker = shutil.which("docker")
    if docker is None:
        return False
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run([docker, "info"], capture_output=True, timeout=10, check=False).returncode == 0
    return False


@contextmanager
def shared_server(folder: Path) -> Iterator[str]:
    """The URL of the Redis that a test run shares."""
    if "://" in chosen():
        yield chosen()
        return
    server = PrivateServer(folder / "shared")
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


class PrivateServer:
    """A Redis of a test's own, with AOF, that can be killed and restarted on the same port with its data."""

    def __init__(self, folder: Path, appendfsync: str = "everysec") -> None:
        choice = choose_redis({}, folder, free_port())
        assert choice.program is not None
        self.url = choice.url
        packaged, *arguments = choice.program.command
        program = packaged if "://" in chosen() else chosen() or packaged
        self._command = (program, *arguments, "--appendfsync", appendfsync)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Starts the server and waits until it answers."""
        self._process = subprocess.Popen(self._command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until_up(self.url)

    def wait_until_written(self) -> None:
        """Waits until the kernel has all data that the server acknowledged. Raises TimeoutError.

        With `appendfsync everysec`, the server keeps new data in its own memory while an fsync runs.
        """
        deadline = time.monotonic() + READY_S
        with redis.Redis.from_url(self.url) as client:
            while client.info("persistence")["aof_buffer_length"]:
                if time.monotonic() > deadline:
                    raise TimeoutError(f"the Redis at {self.url} keeps data in memory for more than {READY_S} s")
                time.sleep(0.01)

    def kill(self) -> None:
        """Sends SIGKILL: data that the kernel does not have is lost."""
        assert self._process is not None
        self._process.kill()
        self._process.wait()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal, such as SIGSTOP and SIGCONT."""
        assert self._process is not None
        self._process.send_signal(number)

    def stop(self) -> None:
        """Kills the server if it still runs."""
        if self._process is not None and self._process.poll() is None:
            self.kill()


def wait_until_up(url: str) -> None:
    """Waits until the server at `url` answers. Raises TimeoutError."""
    deadline = time.monotonic() + READY_S
    while time.monotonic() < deadline:
        with suppress(redis.RedisError), redis.Redis.from_url(url) as client:
            client.ping()
            return
        time.sleep(0.05)
    raise TimeoutError(f"no Redis at {url} after {READY_S} s")
