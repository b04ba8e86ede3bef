"""Assessments beyond those that run at once: they wait, say so, may leave, and come to their turn in order."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord_gateway import admission, progress
from concord_gateway.admission import Admission, FullError
from concord_gateway.app import create_app
from concord_gateway.settings import GatewaySettings
from tests.security.assessing import PATTERN, request, rpc, task_of, workers
from tests.serving import reserved, served, served_agent, url_of

AT_ONCE = 60


@asynccontextmanager
async def gateway(redis_url: str, folder: Path, **settings: int) -> AsyncIterator[str]:
    """The URL of a gateway that observes nothing."""
    holder = reserved()
    chosen = GatewaySettings(
        redis_url=redis_url,
        token_secret=SecretStr("s" * 40),
        output_dir=folder,
        observe=False,
        **settings,  # type: ignore[arg-type]
    )
    async with served(create_app(chosen, f"{url_of(holder)}/"), holder) as url:
        yield f"{url}/"


async def state(http: httpx.AsyncClient, url: str, task_id: str) -> tuple[str, str]:
    """A task's state and what it said last."""
    status = (await http.post(url, json=rpc("tasks/get", {"id": task_id}))).json()["result"]["status"]
    return status["state"], status["message"]["parts"][0]["text"] if "message" in status else ""


async def until(http: httpx.AsyncClient, url: str, task_id: str, wanted: str, text: str = "") -> None:
    """Returns once a task is in that state and says that."""
    async with asyncio.timeout(20):
        while (found := await state(http, url, task_id))[0] != wanted or text not in found[1]:
            await asyncio.sleep(0.02)


async def test_who_waits_is_told_where_it_stands_and_may_leave_and_the_last_is_sent_away(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_S", 0.1)
    begun, go_on = [], asyncio.Event()

    async def slow(message: IncomingMessage, task: TaskHandle) -> None:
        begun.append(message.text)
        await go_on.wait()
        await task.complete("done")

    async with (
        served_agent(slow) as agent,
        gateway(redis_url, tmp_path, max_assessments=1, max_waiting=3) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):

        async def ask(text: str) -> str:
            asked = request({"task": text, "quiet_s": 0, "closing_cap_s": 0.1}, {"a": agent}, blocking=False)
            return str((await task_of(http, url, asked))["id"])

        first = await ask("first")
        await until(http, url, first, "working")
        second, third, fourth = [await ask(text) for text in ("second", "third", "fourth")]
        await until(http, url, second, "submitted", "waiting: this is next")
        await until(http, url, fourth, "submitted", "waiting: 2 before")
        busy = await ask("fifth")
        await until(http, url, busy, "rejected", "busy: 1 assessments are running and 3 wait")
        await http.post(url, json=rpc("tasks/cancel", {"id": second}))
        await until(http, url, second, "canceled")
        await until(http, url, fourth, "submitted", "s: waiting: 1 before")
        await http.post(url, json=rpc("tasks/cancel", {"id": first}))
        await until(http, url, third, "working")
        assert (await state(http, url, fourth))[0] == "submitted"
        await http.post(url, json=rpc("tasks/cancel", {"id": third}))
        await until(http, url, fourth, "working")
        async with asyncio.timeout(10):
            while "fourth" not in begun:
                await asyncio.sleep(0.02)
        await http.post(url, json=rpc("tasks/cancel", {"id": fourth}))
    assert begun == ["first", "third", "fourth"]


async def test_many_at_once_all_end(redis_url: str, tmp_path: Path) -> None:
    with workers(redis_url, tmp_path):
        async with gateway(redis_url, tmp_path) as url, httpx.AsyncClient(timeout=120) as http:
            asked = [request({"interaction_pattern": PATTERN}) for _ in range(AT_ONCE)]
            tasks = await asyncio.gather(*(task_of(http, url, each) for each in asked))
    assert [task["status"]["state"] for task in tasks] == ["completed"] * AT_ONCE


async def _told(_: int) -> None:
    """Tells nobody."""


async def test_places_are_given_in_the_order_of_arrival_and_all_come_back() -> None:
    places, order = Admission(2, 100), []

    async def visit(number: int) -> None:
        async with places.place(1, _told, lambda _: None):
            order.append(number)
            await asyncio.sleep(0)

    visits = [asyncio.create_task(visit(number)) for number in range(20)]
    await asyncio.sleep(0)
    for number in (3, 7, 19):
        visits[number].cancel()
    await asyncio.gather(*visits, return_exceptions=True)
    assert order == [number for number in range(20) if number not in {3, 7, 19}]
    assert places.waiting == 0
    async with places.place(1, _told, lambda _: None), places.place(1, _told, lambda _: None):
        assert places.waiting == 0


async def test_a_place_that_comes_to_one_who_is_just_leaving_goes_to_the_next() -> None:
    places, got = Admission(1, 100), asyncio.Event()

    async def visit(done: asyncio.Event) -> None:
        async with places.place(1, _told, lambda _: None):
            done.set()

    async with places.place(1, _told, lambda _: None):
        leaving = asyncio.create_task(visit(asyncio.Event()))
        staying = asyncio.create_task(visit(got))
        await asyncio.sleep(0)
    leaving.cancel()  # its turn has come, and it does not know yet
    await asyncio.gather(leaving, staying, return_exceptions=True)
    assert got.is_set()
    assert places.waiting == 0


async def test_requests_that_wait_take_so_much_memory_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(admission, "MAX_WAITING_BYTES", 10)
    places = Admission(1, 100)

    async def visit(size: int) -> None:
        async with places.place(size, _told, lambda _: None):
            pass

    async with places.place(1000, _told, lambda _: None):
        waiting = asyncio.create_task(visit(10))
        await asyncio.sleep(0)
        with pytest.raises(FullError, match="1 wait"):
            await visit(1)
    await waiting
    await visit(1)
