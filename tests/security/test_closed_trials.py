"""Closed trials: a trial's tokens expire with it, and later reports are counted and not stored."""

import asyncio
import time
from pathlib import Path

import httpx
import redis
from pydantic import SecretStr

from concord.a2a import IncomingMessage, TaskHandle
from concord.retention import LATE_S
from concord.storage import LeftOut
from concord.storage.connection import connect
from concord.storage.redis.keys import closing
from concord.trace.report import BatchReceipt, Channel
from concord.trust.tokens import ClosedTrials
from concord.wire.assignment import Assignment
from tests.kit.collectors import SECRET, batch, bearer, bearer_of, collector, step
from tests.kit.serving import eventually, served_agent
from tests.kit.stack import Stack, message, rpc, stack


class LateReporter:
    """A participant that answers at once, and keeps its assignments."""

    def __init__(self) -> None:
        self.assignments: list[Assignment] = []

    async def __call__(self, incoming: IncomingMessage, task: TaskHandle, /) -> None:
        self.keep(incoming)
        await task.complete("something")

    def keep(self, incoming: IncomingMessage) -> None:
        found = Assignment.from_metadata(incoming.metadata)
        assert found is not None
        self.assignments.append(found)

    @property
    def headers(self) -> dict[str, str]:
        token = self.assignments[0].token
        assert token is not None
        return bearer_of(token)

    def address_of(self, callee: str, services: Stack) -> str:
        token = self.assignments[0].token
        assert token is not None
        return f"{services.gateway}/a2a/{token.get_secret_value()}/{callee}/"

    def batch(self, name: str, n_steps: int = 1) -> dict[str, object]:
        trace_id = self.assignments[0].trace_id
        steps = [{"step_id": f"{name}-{n}", "trace_id": trace_id, "call_type": "AGENT"} for n in range(n_steps)]
        return {"batch_id": name, "trace_id": trace_id, "reporter": "late", "steps": steps}


async def test_the_token_of_a_closed_trial_is_refused_everywhere(redis_url: str, tmp_path: Path) -> None:
    agent = LateReporter()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(agent) as url,
        served_agent(agent) as other_url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await services.row({"late": url, "other": other_url}, start="late")
        peers = await http.get(f"{services.collector}/peers", headers=agent.headers)
        registration = {"id": "late", "url": url, "functions": []}
        registered = await http.post(f"{services.collector}/register", json=registration, headers=agent.headers)
        card = await http.get(f"{agent.address_of('other', services)}.well-known/agent-card.json")
        call = await http.post(agent.address_of("other", services), json=rpc("message/send", **message("still there?")))
        for response in (peers, registered, card, call):
            assert (response.status_code, "closed" in response.text) == (403, True), response.request.url
        assert len(agent.assignments) == 1


async def test_an_open_call_gets_403_when_its_trial_closes(redis_url: str, tmp_path: Path) -> None:
    """An agent that starts a call and answers before it ends gets no result of it."""
    agent, asked = LateReporter(), asyncio.Event()
    outcome: asyncio.Future[httpx.Response] = asyncio.get_running_loop().create_future()

    async def slow(_: IncomingMessage, task: TaskHandle) -> None:
        asked.set()
        await asyncio.sleep(60)
        await task.complete("much later")

    calling: list[asyncio.Task[None]] = []

    async def answer_early(incoming: IncomingMessage, task: TaskHandle) -> None:
        agent.keep(incoming)
        address = agent.address_of("slow", services)

        async def call() -> None:
            async with httpx.AsyncClient(timeout=60) as http:
                outcome.set_result(await http.post(address, json=rpc("message/send", **message("how long?"))))

        calling.append(asyncio.create_task(call()))
        await asked.wait()
        await task.complete("something")

    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(answer_early) as caller_url,
        served_agent(slow) as slow_url,
    ):
        row = await services.row({"hasty": caller_url, "slow": slow_url}, start="hasty")
        response = await asyncio.wait_for(outcome, 30)
        assert (response.status_code, "closed" in response.text) == (403, True)
        (call,) = [each for each in row["detail"]["trials"][0]["calls"] if each["caller"] == "hasty"]
        assert "unanswered when the trial was closed" in call["error"]


async def test_late_reports_are_counted_and_not_stored(redis_url: str, tmp_path: Path) -> None:
    """The second trial runs while the first trial's late reports arrive, so that the row can count them."""
    agent = LateReporter()
    receipts: list[httpx.Response] = []

    async def reporting(incoming: IncomingMessage, task: TaskHandle) -> None:
        if agent.assignments:
            async with httpx.AsyncClient(timeout=60) as http:
                for name, n_steps in (("b1", 2), ("b2", 3), ("b1", 2)):
                    late_batch = agent.batch(name, n_steps)
                    receipts.append(
                        await http.post(f"{services.collector}/traces", json=late_batch, headers=agent.headers)
                    )
        await agent(incoming, task)

    async with stack(redis_url, tmp_path) as services, served_agent(reporting) as url:
        row = await services.row({"late": url}, num_runs=2)
        assert [(each.status_code, each.json()["accepted"], each.json()["late"]) for each in receipts] == [
            (202, 0, 2),
            (202, 0, 3),
            (202, 0, 2),
        ]
        assert [trial["trace_integrity"]["late"] for trial in row["detail"]["trials"]] == [5, 0]
        assert row["detail"]["trace_integrity"]["late"] == 5
        first = agent.assignments[0].trace_id
        stored = [each async for each in services.storage.traces.batches(first)]
        assert {each.channel for each in stored} == {Channel.OBSERVED}


async def test_reports_after_the_late_period_are_refused_and_not_counted(redis_url: str, tmp_path: Path) -> None:
    agent = LateReporter()
    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(agent) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await services.row({"late": url})
        with redis.Redis.from_url(redis_url) as client:
            client.hset(closing(agent.assignments[0].trace_id), "at", int(time.time()) - LATE_S - 2)
        response = await http.post(f"{services.collector}/traces", json=agent.batch("b"), headers=agent.headers)
        assert (response.status_code, "closed" in response.text) == (403, True)
        assert await services.storage.traces.late(agent.assignments[0].trace_id) == {}


async def test_tokens_expire_when_the_assessment_is_cancelled(redis_url: str, tmp_path: Path) -> None:
    agent = LateReporter()

    async def answer_much_later(incoming: IncomingMessage, task: TaskHandle) -> None:
        agent.keep(incoming)
        await asyncio.sleep(60)
        await task.complete("much later")

    async with (
        stack(redis_url, tmp_path) as services,
        served_agent(answer_much_later) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        async with services.started({"late": url}) as task_id:
            await eventually(lambda: bool(agent.assignments))
            assert (await http.get(f"{services.collector}/peers", headers=agent.headers)).status_code == 200
            await http.post(services.gateway, json=rpc("tasks/cancel", id=task_id))
        async with asyncio.timeout(60):
            while (await http.get(f"{services.collector}/peers", headers=agent.headers)).status_code != 403:
                await asyncio.sleep(0.05)


async def test_late_batches_count_towards_the_quota(redis_url: str) -> None:
    """The receipts of late batches, kept for a repeated batch, take storage as batches do."""
    async with (
        connect(redis_url) as storage,
        collector(redis_url, open=False, token_secret=SecretStr(SECRET), max_trace_bytes=2000) as client,
    ):
        await storage.traces.close("t1")
        answers = [
            await client.post("/traces", json=batch(step(), batch_id=f"b{n}"), headers=bearer("writer"))
            for n in range(60)
        ]
        assert {answer.status_code for answer in answers} == {202}
        receipts = [BatchReceipt.model_validate_json(answer.content) for answer in answers]
        late = sum(receipt.late for receipt in receipts)
        assert [receipt.late for receipt in receipts] == [1] * late + [0] * (60 - late)
        assert {receipt.accepted for receipt in receipts} == {0}
        assert [len(receipt.rejected) for receipt in receipts] == [0] * late + [1] * (60 - late)
        assert 0 < late < 60
        assert await storage.traces.late("t1") == {"writer": late}
        assert await storage.traces.refused("t1") == {"writer": 60 - late}
        assert await storage.traces.left_out(["t2", "t1"]) == [
            LeftOut(late={}, refused={}),
            LeftOut(late={"writer": late}, refused={"writer": 60 - late}),
        ]


async def test_another_process_learns_that_a_trial_is_closed(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        elsewhere = ClosedTrials(storage.traces.is_closed)
        assert not await elsewhere.is_closed("t1")
        await storage.traces.close("t1")
        async with asyncio.timeout(60):
            while not await elsewhere.is_closed("t1"):
                await asyncio.sleep(0.05)
