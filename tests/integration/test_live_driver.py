"""The live driver and the closing rule, against real agents and a real Redis."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from datetime import UTC, datetime

import pytest

from concord.a2a import Handler, IncomingMessage, Messenger, TaskHandle
from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.assignment import Assignment
from concord.extensions import TRACEABILITY_KEY
from concord.identity import GREEN_AGENT, RosterEntry
from concord.ids import new_step_id
from concord.reports import BatchReceipt, Channel, ReportBatch, StepBatch, pack
from concord.results import TrialOutcome
from concord.steps import CallType, InteractionStep, ResponseTrace
from concord.storage import Storage, connect
from concord_gateway.closing import wait_until_quiet
from concord_gateway.drivers import TrialContext, drive_live
from concord_gateway.progress import Progress
from concord_gateway.recorder import Recorder
from tests.redis_servers import free_port
from tests.serving import served_agent


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


class Silent(Progress):
    """Progress that nobody listens to."""

    def __init__(self) -> None:
        self._latest = ""

    async def tell(self, text: str) -> None:
        self._latest = text


async def answer(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"done: {message.text}")


async def refuse(_: IncomingMessage, task: TaskHandle) -> None:
    await task.reject("not my work")


async def sleep(_: IncomingMessage, task: TaskHandle) -> None:
    await task.working("soon")
    await asyncio.sleep(60)


NOBODY = None


async def drive(
    storage: Storage, team: dict[str, Handler | None], *, start: str = "all", budget_s: float = 10
) -> tuple[TrialOutcome, str]:
    """Drives one trial of a team (None: nobody listens there); returns its outcome and its trace id."""
    async with AsyncExitStack() as agents:
        roster = []
        for name, handler in team.items():
            url = f"http://127.0.0.1:{free_port()}/"
            if handler is not None:
                url = await agents.enter_async_context(served_agent(handler))
            roster.append(RosterEntry(id=name, url=url))
        tasks = [TaskSpec(id="t", text="count the trees")]
        plan = AssessmentPlan(
            assessment_id="a1",
            mode=Mode.LIVE,
            config=AssessmentConfig(start=start),
            tasks=tasks,
            roster=roster,
            trials=plan_trials(tasks, 1, 0),
        )
        (trial,) = plan.trials
        recorder = Recorder(storage.traces, trial.trace_id)
        mine = Assignment(assessment_id="a1", trace_id=trial.trace_id, step_id=new_step_id(), agent_id=GREEN_AGENT)
        async with Messenger(recorder.on_step, timeout_s=budget_s) as messenger:
            outcome = await drive_live(
                TrialContext(
                    plan=plan,
                    trial=trial,
                    task=tasks[0],
                    assignment=mine,
                    messenger=messenger,
                    traces=storage.traces,
                    progress=Silent(),
                    budget_s=budget_s,
                )
            )
        await recorder.write()
        return outcome, trial.trace_id


async def test_the_task_goes_to_one_participant_or_to_all(storage: Storage) -> None:
    team: dict[str, Handler | None] = {"a": answer, "b": answer}
    outcome, trace_id = await drive(storage, team, start="b")
    assert (outcome.state, outcome.answer, outcome.error) == ("completed", "done: count the trees", None)
    assert await callees(storage, trace_id) == ["b"]
    outcome, trace_id = await drive(storage, team, start="all")
    assert outcome.answer == "a:\ndone: count the trees\n\nb:\ndone: count the trees"
    assert await callees(storage, trace_id) == ["a", "b"]


async def test_what_the_gateway_called_is_observed_by_it(storage: Storage) -> None:
    _, trace_id = await drive(storage, {"a": answer})
    batches = [batch async for batch in storage.traces.batches(trace_id)]
    assert [(batch.reporter, batch.channel, batch.authenticated) for batch in batches] == [
        (GREEN_AGENT, Channel.OBSERVED, True)
    ]


@pytest.mark.parametrize(
    ("team", "state", "infrastructure"),
    [
        ({"a": answer, "b": refuse}, "completed", False),
        ({"a": refuse}, "failed", False),
        ({"a": sleep}, "timeout", False),
        ({"a": NOBODY}, "failed", True),
        ({"a": NOBODY, "b": refuse}, "failed", False),
        ({"a": NOBODY, "b": answer}, "completed", False),
        ({"a": sleep, "b": refuse}, "timeout", False),
    ],
)
async def test_an_agents_failure_is_told_from_one_of_the_infrastructure(
    storage: Storage, team: dict[str, Handler | None], state: str, infrastructure: bool
) -> None:
    outcome, _ = await drive(storage, team, budget_s=1)
    assert (outcome.state, outcome.infrastructure) == (state, infrastructure)
    assert (outcome.error is None) == (set(team.values()) == {answer})


async def test_steps_sent_in_band_become_the_callees_own_report(storage: Storage) -> None:
    async def trace(message: IncomingMessage, task: TaskHandle) -> None:
        mine = Assignment.from_metadata(message.metadata)
        assert mine is not None
        own = InteractionStep(
            step_id="own", trace_id=mine.trace_id, parent_step_id=mine.step_id, call_type=CallType.TOOL
        )
        foreign = InteractionStep(step_id="foreign", trace_id="elsewhere", call_type=CallType.TOOL)
        carried = ResponseTrace(trace_id=mine.trace_id, steps=[own, foreign]).model_dump(mode="json", exclude_none=True)
        await task.complete("ok", metadata={TRACEABILITY_KEY: carried})

    _, trace_id = await drive(storage, {"a": trace})
    in_band = [b async for b in storage.traces.batches(trace_id) if b.channel is Channel.IN_BAND]
    assert [(b.reporter, b.dropped, [r.step.step_id for r in b.reports()]) for b in in_band] == [("a", 1, ["own"])]


async def callees(storage: Storage, trace_id: str) -> list[str]:
    steps = [r.step async for batch in storage.traces.batches(trace_id) for r in batch.reports()]
    return sorted(step.agent_call.agent_name for step in steps if step.agent_call is not None)


class TestClosing:
    async def test_a_quiet_trace_closes_after_the_quiet_time_and_says_its_length(self, storage: Storage) -> None:
        await append(storage)
        started = time.monotonic()
        assert await wait_until_quiet(storage.traces, "t1", quiet_s=0.3, cap_s=10) == 1
        assert time.monotonic() - started >= 0.3  # it promises to wait at least so long

    async def test_every_new_batch_starts_the_quiet_time_anew(self, storage: Storage) -> None:
        async def report() -> None:
            for _ in range(5):
                await append(storage)
                await asyncio.sleep(0.2)

        reporting = asyncio.create_task(report())
        assert await wait_until_quiet(storage.traces, "t1", quiet_s=0.6, cap_s=20) == 5
        await reporting

    async def test_an_endless_reporter_does_not_keep_it_open_beyond_the_cap(self, storage: Storage) -> None:
        async def report() -> None:
            while True:
                await append(storage)
                await asyncio.sleep(0.05)

        reporting = asyncio.create_task(report())
        async with asyncio.timeout(5):
            assert await wait_until_quiet(storage.traces, "t1", quiet_s=0.5, cap_s=1) > 0
        reporting.cancel()


async def append(storage: Storage) -> None:
    batch = StepBatch(trace_id="t1", reporter="a")
    await storage.traces.append(
        ReportBatch(
            batch_id=batch.batch_id,
            trace_id="t1",
            reporter="a",
            authenticated=False,
            channel=Channel.HTTP,
            received_at=datetime.now(UTC),
            n_steps=0,
            dropped=0,
            body=pack(batch.model_dump_json().encode()),
        ),
        BatchReceipt(accepted=0, duplicate=0, rejected=[]),
    )
