"""Admission: assessments beyond the number that run at once wait in order, report their place, and may be cancelled."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment import AssessmentRequest
from concord_gateway import evaluation, handler, progress
from concord_gateway.app import create_app
from concord_gateway.handler import AdmissionControl, FullError
from concord_gateway.intake import read_request
from concord_gateway.settings import GatewaySettings
from tests.kit.assessing import PATTERN, request, rpc, task_of
from tests.kit.serving import reserved, served, served_agent, url_of
from tests.kit.stack import workers

AT_ONCE = 12
"""Three times as many as may run: most of them wait."""


@asynccontextmanager
async def gateway(redis_url: str, folder: Path, **settings: int) -> AsyncIterator[str]:
    """The URL of a gateway that does not observe calls."""
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
    """A task's state and its latest status text."""
    status = (await http.post(url, json=rpc("tasks/get", {"id": task_id}))).json()["result"]["status"]
    return status["state"], status["message"]["parts"][0]["text"] if "message" in status else ""


async def wait_for_state(http: httpx.AsyncClient, url: str, task_id: str, wanted: str, text: str = "") -> None:
    """Waits until a task has this state and its status contains this text."""
    async with asyncio.timeout(60):
        while (found := await state(http, url, task_id))[0] != wanted or text not in found[1]:
            await asyncio.sleep(0.02)


async def test_a_request_is_parsed_once_and_again_only_after_it_waited(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parsed, may_answer = Counter[str](), asyncio.Event()

    def counted(message: IncomingMessage) -> AssessmentRequest:
        parsed["first" if "first" in message.text else "second"] += 1
        return read_request(message)

    async def slow(_: IncomingMessage, task: TaskHandle) -> None:
        await may_answer.wait()
        await task.complete("done")

    monkeypatch.setattr(handler, "read_request", counted)
    async with (
        workers(redis_url),
        served_agent(slow) as agent,
        gateway(redis_url, tmp_path, max_assessments=1) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        tasks = []
        for text in ("first", "second"):
            document = request({"task": text, "quiet_s": 0, "closing_cap_s": 0.1}, {"a": agent}, blocking=False)
            tasks.append((await task_of(http, url, document))["id"])
            await wait_for_state(http, url, tasks[-1], "working" if text == "first" else "submitted")
        may_answer.set()
        for task_id in tasks:
            await wait_for_state(http, url, task_id, "completed")
    assert parsed == {"first": 1, "second": 2}


async def test_waiting_assessments_report_their_place_can_be_cancelled_and_are_limited_in_number(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "HEARTBEAT_S", 0.1)
    started, may_answer = [], asyncio.Event()

    async def slow(message: IncomingMessage, task: TaskHandle) -> None:
        started.append(message.text)
        await may_answer.wait()
        await task.complete("done")

    async with AsyncExitStack() as running:
        await running.enter_async_context(workers(redis_url))
        agent = await running.enter_async_context(served_agent(slow))
        url = await running.enter_async_context(gateway(redis_url, tmp_path, max_assessments=1, max_waiting=3))
        http = await running.enter_async_context(httpx.AsyncClient(timeout=60))

        async def wait_for_message(text: str) -> None:
            async with asyncio.timeout(60):
                while text not in started:
                    await asyncio.sleep(0.02)

        async def ask(text: str) -> str:
            document = request({"task": text, "quiet_s": 0, "closing_cap_s": 0.1}, {"a": agent}, blocking=False)
            return str((await task_of(http, url, document))["id"])

        first = await ask("first")
        await wait_for_message("first")
        second, third, fourth = [await ask(text) for text in ("second", "third", "fourth")]
        await wait_for_state(http, url, second, "submitted", "waiting: this is next")
        await wait_for_state(http, url, fourth, "submitted", "waiting: 2 before")
        busy = await ask("fifth")
        await wait_for_state(http, url, busy, "rejected", "busy: 1 assessments are running and 3 wait")
        await http.post(url, json=rpc("tasks/cancel", {"id": second}))
        await wait_for_state(http, url, second, "canceled")
        await wait_for_state(http, url, fourth, "submitted", "s: waiting: 1 before")
        await http.post(url, json=rpc("tasks/cancel", {"id": first}))
        await wait_for_message("third")
        assert (await state(http, url, fourth))[0] == "submitted"
        await http.post(url, json=rpc("tasks/cancel", {"id": third}))
        await wait_for_message("fourth")
        await http.post(url, json=rpc("tasks/cancel", {"id": fourth}))
    assert started == ["first", "third", "fourth"]


async def test_many_assessments_at_once_all_complete(redis_url: str, tmp_path: Path) -> None:
    async with (
        workers(redis_url),
        gateway(redis_url, tmp_path, max_assessments=AT_ONCE // 3) as url,
        httpx.AsyncClient(timeout=120) as http,
    ):
        document = [request({"interaction_pattern": PATTERN}) for _ in range(AT_ONCE)]
        tasks = await asyncio.gather(*(task_of(http, url, each) for each in document))
    assert [task["status"]["state"] for task in tasks] == ["completed"] * AT_ONCE


async def test_an_assessment_without_a_worker_fails_and_names_the_queues(
    redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(evaluation, "WORKERS_S", 0.3)
    async with gateway(redis_url, tmp_path) as url, httpx.AsyncClient(timeout=60) as http:
        task = await task_of(http, url, request({"interaction_pattern": PATTERN}))
    status = task["status"]
    assert status["state"] == "failed"
    assert "no worker of the evaluator answers on the queue 'fast' and 'llm'" in status["message"]["parts"][0]["text"]


async def _ignore(_: int) -> None:
    """Ignores the number of visitors before."""


async def test_places_are_given_in_the_order_of_arrival_and_all_are_returned() -> None:
    places, order = AdmissionControl(2, 100), []

    async def visit(number: int) -> None:
        async with places.place(1, _ignore, lambda _: None):
            order.append(number)
            await asyncio.sleep(0)

    visits = [asyncio.create_task(visit(number)) for number in range(20)]
    await asyncio.sleep(0)
    for number in (3, 7, 19):
        visits[number].cancel()
    await asyncio.gather(*visits, return_exceptions=True)
    assert order == [number for number in range(20) if number not in {3, 7, 19}]
    assert places.waiting == 0
    async with places.place(1, _ignore, lambda _: None), places.place(1, _ignore, lambda _: None):
        assert places.waiting == 0


async def test_a_place_given_to_a_visitor_that_is_being_cancelled_goes_to_the_next() -> None:
    places, reached = AdmissionControl(1, 100), asyncio.Event()

    async def visit(done: asyncio.Event) -> None:
        async with places.place(1, _ignore, lambda _: None):
            done.set()

    async with places.place(1, _ignore, lambda _: None):
        leaving = asyncio.create_task(visit(asyncio.Event()))
        staying = asyncio.create_task(visit(reached))
        await asyncio.sleep(0)
    leaving.cancel()  # a place is free for it, and it has not run since
    await asyncio.gather(leaving, staying, return_exceptions=True)
    assert reached.is_set()
    assert places.waiting == 0


async def test_an_owner_with_its_share_waits_while_another_takes_a_place() -> None:
    places, order = AdmissionControl(4, 4, share=0.5), list[str]()

    async def visit(owner: str) -> None:
        async with places.place(1, _ignore, lambda _: None, owner=owner):
            order.append(owner)
            await go.wait()

    go = asyncio.Event()
    visits = [asyncio.create_task(visit("greedy")) for _ in range(4)]
    await asyncio.sleep(0)
    with pytest.raises(FullError, match="2 assessments are running and 2 wait of this API key"):
        await visit("greedy")
    visits += [asyncio.create_task(visit("modest")) for _ in range(2)]
    await asyncio.sleep(0)
    assert order == ["greedy", "greedy", "modest", "modest"]
    go.set()
    await asyncio.gather(*visits)
    assert order[4:] == ["greedy", "greedy"]
    assert (places.running, places.waiting) == (0, 0)


async def test_the_bytes_of_waiting_requests_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(handler, "MAX_WAITING_BYTES", 10)
    places = AdmissionControl(1, 100)

    async def visit(size: int) -> None:
        async with places.place(size, _ignore, lambda _: None):
            pass

    async with places.place(1000, _ignore, lambda _: None):
        waiting = asyncio.create_task(visit(10))
        await asyncio.sleep(0)
        with pytest.raises(FullError, match="1 wait"):
            await visit(1)
    await waiting
    await visit(1)
