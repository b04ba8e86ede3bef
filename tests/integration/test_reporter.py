"""The reporter over real HTTP: it never blocks its agent, retries, and counts the steps that it drops."""

import asyncio
import gzip
import os
import random
import re
import sys
import time
from collections.abc import AsyncIterator
from typing import Final

import pytest
from fastapi import FastAPI, Request, Response

from concord.agent.delivery import DeliveryPolicy
from concord.agent.reporter import TraceReporter
from concord.storage.connection import connect
from concord.trace.decoding import reports_of
from concord.trace.effects import Effect, EffectKind, Lines, Workspace, effect_of
from concord.trace.report import StepBatch
from concord.trace.step import MAX_NAME_LENGTH, CallType, InteractionStep
from concord.wire.assignment import Assignment
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from tests.kit.ports import free_port
from tests.kit.serving import eventually, reserved, served, url_of


class Receiver:
    """A collector that keeps the batches it receives, and answers with `statuses` in turn, then with 202."""

    def __init__(self) -> None:
        self.batches: list[StepBatch] = []
        self.statuses: list[int] = []
        self.retry_after: str | None = None
        self.app = FastAPI()
        self.app.post("/traces")(self._receive)

    async def _receive(self, request: Request) -> Response:
        self.batches.append(StepBatch.model_validate_json(gzip.decompress(await request.body())))
        status = self.statuses.pop(0) if self.statuses else 202
        headers = {} if self.retry_after is None or status == 202 else {"retry-after": self.retry_after}
        return Response(status_code=status, headers=headers)


@pytest.fixture
def receiver() -> Receiver:
    return Receiver()


@pytest.fixture
async def url(receiver: Receiver) -> AsyncIterator[str]:
    async with served(receiver.app) as served_at:
        yield served_at


def assignment(collector_url: str | None, trace_id: str = "t1") -> Assignment:
    return Assignment(
        assessment_id="a", trace_id=trace_id, step_id="root", agent_id="writer", collector_url=collector_url
    )


def step(step_id: object = "s", trace_id: str = "t1") -> InteractionStep:
    return InteractionStep(step_id=str(step_id), trace_id=trace_id, call_type=CallType.TOOL)


async def close(reporter: TraceReporter, timeout_s: float = 60) -> None:
    await asyncio.to_thread(reporter.close, timeout_s)


async def test_reported_steps_are_stored_in_order_under_the_agents_id(redis_url: str) -> None:
    async with served(create_app(CollectorSettings(redis_url=redis_url, open=True))) as collector:
        reporter = TraceReporter()
        for number in range(250):
            reporter.report(step(number), assignment(collector))
        await close(reporter)
    async with connect(redis_url) as storage:
        stored = [report async for each in storage.traces.batches("t1") for report in reports_of(each)]
    assert [report.step.step_id for report in stored] == [str(number) for number in range(250)]
    assert {report.reporter for report in stored} == {"writer"}


async def test_a_batch_holds_one_trace_and_at_most_a_hundred_steps(receiver: Receiver, url: str) -> None:
    reporter = TraceReporter()
    for number in range(150):
        reporter.report(step(number, "t1"), assignment(url, "t1"))
    reporter.report(step("other", "t2"), assignment(url, "t2"))
    await close(reporter)
    assert all(s.trace_id == each.trace_id for each in receiver.batches for s in each.steps)
    assert max(len(each.steps) for each in receiver.batches) <= TraceReporter.POLICY.batch_steps
    assert sum(len(each.steps) for each in receiver.batches) == 151


@pytest.mark.parametrize("status", [429, 502, 503, 504])
async def test_after_a_temporary_failure_the_same_batch_is_sent_again(
    receiver: Receiver, url: str, status: int
) -> None:
    receiver.statuses = [status, status]
    reporter = TraceReporter()
    reporter.report(step(), assignment(url))
    await eventually(lambda: len(receiver.batches) == 3)
    await close(reporter)
    assert len({each.batch_id for each in receiver.batches}) == 1


async def test_no_retry_is_made_before_the_time_in_retry_after(receiver: Receiver, url: str) -> None:
    receiver.statuses, receiver.retry_after = [503], "1"
    reporter = TraceReporter()
    reporter.report(step(), assignment(url))
    await eventually(lambda: len(receiver.batches) == 1)
    first = time.monotonic()
    await eventually(lambda: len(receiver.batches) == 2)
    assert time.monotonic() - first >= 0.9  # a lower bound, which holds on any machine
    await close(reporter)


async def test_after_a_final_refusal_the_batch_is_dropped_and_the_next_one_counts_the_loss(
    receiver: Receiver, url: str
) -> None:
    receiver.statuses = [400]
    reporter = TraceReporter()
    reporter.report(step("lost"), assignment(url))
    assert await asyncio.to_thread(reporter.flush)
    reporter.report(step("kept"), assignment(url))
    await close(reporter)
    assert [[s.step_id for s in each.steps] for each in receiver.batches] == [["lost"], ["kept"]]
    assert [each.dropped for each in receiver.batches] == [{}, {"undelivered": 1}]


async def test_a_full_buffer_drops_the_oldest_steps_and_reports_their_number(
    receiver: Receiver, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(buffer_steps=10, batch_steps=1000, flush_s=60))
    reporter = TraceReporter()
    reporter.report(step("first"), assignment(url))
    assert await asyncio.to_thread(reporter.flush)
    for number in range(25):
        reporter.report(step(number), assignment(url))
    await close(reporter)
    _, rest = receiver.batches
    assert [s.step_id for s in rest.steps] == [str(number) for number in range(15, 25)]
    assert rest.dropped == {"buffer_full": 15}


async def test_the_first_step_is_sent_at_once(receiver: Receiver, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(flush_s=3600))
    reporter = TraceReporter()
    reporter.report(step("first"), assignment(url))
    while not receiver.batches:
        await asyncio.sleep(0.01)
    await close(reporter)


async def test_a_collector_that_starts_late_gets_all_steps(receiver: Receiver) -> None:
    holder = reserved()
    reporter = TraceReporter()
    reporter.report(step("early"), assignment(url_of(holder)))
    await asyncio.sleep(0.8)
    async with served(receiver.app, holder):
        await eventually(lambda: bool(receiver.batches))
    await close(reporter)
    assert [s.step_id for each in receiver.batches for s in each.steps] == ["early"]


def lines_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The messages that the library logged."""
    return [record.getMessage() for record in caplog.records if record.name.startswith("concord.")]


async def test_an_unreachable_collector_is_logged_once_and_once_more_when_it_is_back(
    receiver: Receiver, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    caplog.set_level("INFO")
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(deadline_s=0, log_every_s=float("inf")))
    holder, reporter = reserved(), TraceReporter()
    address = url_of(holder)
    secret = Assignment.model_validate(assignment(address).model_dump() | {"token": "concord_a-secret-token"})
    for number in range(5000):
        reporter.report(step(number), secret)
    assert await asyncio.to_thread(reporter.flush, 60)
    [away] = lines_of(caplog)
    assert away.startswith(f"the collector at {address} accepts no steps: ConnectError: ")
    async with served(receiver.app, holder):
        reporter.report(step("after"), secret)
        assert await asyncio.to_thread(reporter.flush, 60)
        await close(reporter)
    [_, back] = lines_of(caplog)
    assert back == f"the collector at {address} accepts steps again; 0 steps waiting, 5000 dropped"
    assert "a-secret-token" not in caplog.text
    assert sum(sum(each.dropped.values()) for each in receiver.batches) == 5000


async def test_while_the_collector_is_unreachable_the_log_counts_waiting_and_dropped_steps(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(TraceReporter, "POLICY", DeliveryPolicy(log_every_s=0, buffer_steps=1000))

    def all_steps_counted() -> bool:
        matches = [
            re.search(r"still accepts no steps: .*; (\d+) steps waiting, (\d+) dropped$", line)
            for line in lines_of(caplog)
        ]
        return any(each is not None and int(each[1]) + int(each[2]) == 3000 and int(each[2]) > 0 for each in matches)

    with reserved() as holder:
        reporter = TraceReporter()
        for number in range(3000):
            reporter.report(step(number), assignment(url_of(holder)))
        await eventually(all_steps_counted)
        await close(reporter, 0)
        last = lines_of(caplog)[-1]
        assert last == f"dropped 3000 steps, which the collector at {url_of(holder)} does not know of"


async def test_a_refusal_is_logged_once_however_many_steps_there_are(
    receiver: Receiver, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    receiver.statuses = [403] * 1000
    reporter = TraceReporter()
    for number in range(2000):
        reporter.report(step(number), assignment(url))
    assert await asyncio.to_thread(reporter.flush, 60)
    [refused] = lines_of(caplog)
    assert refused == f"the collector at {url} refused {len(receiver.batches[0].steps)} steps: HTTP 403"
    receiver.statuses = []
    await close(reporter)


async def test_closing_without_a_reachable_collector_ends_after_its_timeout() -> None:
    reporter = TraceReporter()
    reporter.report(step(), assignment(f"http://127.0.0.1:{free_port()}"))
    async with asyncio.timeout(60):
        await close(reporter, timeout_s=0.5)


async def test_without_a_collector_in_the_assignment_nothing_is_sent() -> None:
    reporter = TraceReporter()
    reporter.report(step(), assignment(None))
    assert reporter.flush(0)


async def test_a_step_reported_after_closing_is_not_sent(receiver: Receiver, url: str) -> None:
    reporter = TraceReporter()
    await close(reporter)
    reporter.report(step(), assignment(url))
    await asyncio.sleep(0.7)
    assert receiver.batches == []


async def test_retries_do_not_change_the_agents_random_state(receiver: Receiver, url: str) -> None:
    before = random.getstate()
    receiver.statuses = [503]
    reporter = TraceReporter()
    reporter.report(step(), assignment(url))
    await eventually(lambda: len(receiver.batches) == 2)
    await close(reporter)
    assert random.getstate() == before


_FORKS: Final = """
import os, sys, threading, time
from concord.wire.assignment import Assignment
from concord.agent.delivery import DeliveryPolicy
from concord.agent.reporter import TraceReporter
from concord.trace.step import MAX_NAME_LENGTH, CallType, InteractionStep

def report(step_id):
    assignment = Assignment(
        assessment_id="a", trace_id="t1", step_id="root", agent_id="writer", collector_url=sys.argv[1]
    )
    reporter.report(InteractionStep(step_id=step_id, trace_id="t1", call_type=CallType.TOOL), assignment)

class SlowImport:
    begun = threading.Event()

    def find_spec(self, name, *_):
        if name == sys.argv[2]:
            self.begun.set()
            time.sleep(0.2)

sys.meta_path.insert(0, SlowImport())
reporter = TraceReporter()
reporter.POLICY = DeliveryPolicy(flush_s=30)  # the parent's step must still be waiting when the child starts
report("parent")
assert SlowImport.begun.wait(60)
child = os.fork()  # while the reporter's thread holds the lock of an import
if child == 0:
    # With the ident of the parent's thread, the child's would own that thread's locks.
    threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
    report("child")
reporter.close(60)
if child == 0:
    os._exit(0)
os.waitpid(child, 0)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
@pytest.mark.parametrize("module", ["httpcore", "encodings.idna"])
async def test_a_forked_child_reports_its_own_steps_and_not_its_parents(
    receiver: Receiver, url: str, module: str
) -> None:
    agent = await asyncio.create_subprocess_exec(sys.executable, "-c", _FORKS, url, module)
    assert await agent.wait() == 0
    assert sorted(s.step_id for each in receiver.batches for s in each.steps) == ["child", "parent"]


async def test_an_effect_is_a_step_below_the_senders(url: str, receiver: Receiver) -> None:
    edit = Effect(EffectKind.EDITED, "app.py", lines=Lines(3, 1), workspace=Workspace.SHARED)
    reporter = TraceReporter()
    reporter.effect(edit, assignment(url), tool="edit_file")
    reporter.effect(Effect(EffectKind.DELIVERED, "app.py"), assignment(url))
    await reporter.aclose()
    edited, delivered = (step for batch in receiver.batches for step in batch.steps)
    assert (edited.kind, edited.parent, effect_of(edited.additional_attributes)) == (CallType.TOOL, "root", edit)
    assert (delivered.kind, delivered.action) == (CallType.HOST, None)


async def test_an_effect_that_no_step_can_have_is_dropped_and_counted(url: str, receiver: Receiver) -> None:
    reporter = TraceReporter()
    reporter.effect(Effect(EffectKind.CLAIMED, "app.py"), assignment(url), tool="x" * (MAX_NAME_LENGTH + 1))
    reporter.effect(Effect(EffectKind.CLAIMED, "app.py"), assignment(url))
    await reporter.aclose()
    assert [step.kind for batch in receiver.batches for step in batch.steps] == [CallType.HOST]
    assert sum(sum(batch.dropped.values()) for batch in receiver.batches) == 1
