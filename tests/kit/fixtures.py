"""Settings and fixtures of all tests: the event loop's backend, Hypothesis, and a real Redis."""

import asyncio
import atexit
import inspect
import os
import signal
from collections.abc import Awaitable, Callable, Iterator
from functools import wraps
from pathlib import Path

import pytest
import redis
from hypothesis import HealthCheck, settings

from tests.kit.redis_servers import PrivateServer, chosen, shared_server

ASYNC_LIMIT_S = 180

# No deadline for an example: the speed of the machine is not part of a property. The same examples in every run, so
# that a change is refused for what it changed; `make lab NAME=laws` searches others.
settings.register_profile(
    "concord", max_examples=50, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("search", settings.get_profile("concord"), derandomize=False)
settings.load_profile("concord")


def pytest_configure(config: pytest.Config) -> None:
    """Lets the programs that tests start react to Ctrl-C, which they inherit as ignored from a background job.

    The processes of pytest-xdist end without freeing each object, which would take two seconds of processor time.
    """
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)  # registered first, so called last


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    """Cancels an async test that hangs.

    The signal of pytest-timeout stops the event loop but not the test in it, for which its fixtures then wait forever.
    """
    if inspect.iscoroutinefunction(pyfuncitem.obj):
        pyfuncitem.obj = _limited(pyfuncitem.obj)
    return (yield)


def _limited(test: Callable[..., Awaitable[None]]) -> Callable[..., Awaitable[None]]:
    @wraps(test)
    async def limited(**fixtures: object) -> None:
        async with asyncio.timeout(ASYNC_LIMIT_S):
            await test(**fixtures)

    return limited


def pytest_report_header() -> str:
    return f"redis: {chosen() or 'the packaged Valkey'}"


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The event loop's backend. A test that is no coroutine, but has a fixture that is one, must use this fixture."""
    return "asyncio"


@pytest.fixture(scope="session")
def redis_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of the session's shared Redis."""
    with shared_server(tmp_path_factory.mktemp("redis")) as url:
        yield url


@pytest.fixture
def redis_url(redis_server: str) -> str:
    """The URL of a real, empty Redis."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return redis_server


@pytest.fixture
def private_redis(tmp_path: Path) -> Iterator[PrivateServer]:
    """A Redis of the test's own, which the test may kill and restart. It acknowledges a write once it is on disk."""
    server = PrivateServer(tmp_path / "redis", appendfsync="always")
    server.start()
    yield server
    server.stop()
