"""Redis that is full, slow, stopped or gone in a trial: probes go on answering, and the assessment completes."""

import asyncio
import signal
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis

from concord.service.probes import READY_S
from tests.kit.assessing import counting_agent, tasks
from tests.kit.redis_servers import PrivateServer
from tests.kit.stack import stack

State = Callable[[PrivateServer], AbstractAsyncContextManager[None]]

PROBED_WITHIN_S = 2.0


async def _command(server: PrivateServer, run: Callable[[Any], object]) -> None:
    def call() -> None:
        with redis.Redis.from_url(server.url) as client:
            run(client)

    await asyncio.to_thread(call)


@asynccontextmanager
async def full(server: PrivateServer) -> AsyncIterator[None]:
    await _command(server, lambda client: client.config_set("maxmemory", 1))
    yield
    await _command(server, lambda client: client.config_set("maxmemory", 0))


@asynccontextmanager
async def slow(server: PrivateServer) -> AsyncIterator[None]:
    """Redis works a tenth of the time."""

    async def delay() -> None:
        while True:
            server.signal(signal.SIGSTOP)
            await asyncio.sleep(0.9)
            server.signal(signal.SIGCONT)
            await asyncio.sleep(0.1)

    delaying = asyncio.create_task(delay())
    yield
    delaying.cancel()
    server.signal(signal.SIGCONT)


@asynccontextmanager
async def stopped(server: PrivateServer) -> AsyncIterator[None]:
    server.signal(signal.SIGSTOP)
    yield
    server.signal(signal.SIGCONT)


@asynccontextmanager
async def gone(server: PrivateServer) -> AsyncIterator[None]:
    server.wait_until_written()
    await asyncio.to_thread(server.kill)
    yield
    await asyncio.to_thread(server.start)


@pytest.mark.parametrize(("state", "ready"), [(full, {200, 503}), (slow, {200, 503}), (stopped, {503}), (gone, {503})])
async def test_probes_answer_throughout_and_the_assessment_completes_afterwards(
    private_redis: PrivateServer, tmp_path: Path, state: State, ready: set[int]
) -> None:
    async with (
        stack(private_redis.url, tmp_path, observe=False) as running,
        counting_agent() as agent,
        httpx.AsyncClient(timeout=30) as http,
    ):
        withheld = agent.withhold("two")
        assessed = asyncio.create_task(running.row({"a": agent.url}, **tasks("one", "two", "three")))
        await agent.has_received("two")
        async with state(private_redis):
            for service in (running.gateway, running.collector):
                assert (await http.get(f"{service}/readyz")).status_code in ready
                assert (await http.get(f"{service}/healthz")).status_code == 200
        withheld.set()
        row = await assessed
    assert agent.received == {"one": 1, "two": 1, "three": 1}
    assert (row["score"], row["detail"]["scoring"]["usable_trials"]) == (100, 3)


def test_readiness_gives_up_before_a_probe_does() -> None:
    assert READY_S < PROBED_WITHIN_S
