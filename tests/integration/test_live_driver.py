"""The live driver against real agents and a real Redis."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack

import pytest
from pydantic import SecretStr

from concord.a2a import Handler, IncomingMessage, TaskHandle
from concord.agent.messenger import Messenger
from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.assessment.results import TrialOutcome
from concord.storage import TraceLimits
from concord.storage.connection import Storage, connect
from concord.trace.decoding import reports_of
from concord.trace.report import Channel
from concord.trace.step import CallType, InteractionStep, ResponseTrace
from concord.trust.tokens import Claims, TokenKeys, TokenVerifier
from concord.wire.assignment import TRACEABILITY_KEY, Assignment
from concord.wire.roster import GREEN_AGENT, RosterEntry, new_step_id
from concord_gateway.assignments import Assignments, TrialCalls
from concord_gateway.calls import Channels
from concord_gateway.drivers.driver import TrialContext
from concord_gateway.drivers.live import drive_live
from concord_gateway.recorder import Recorder
from tests.kit.assistants import no_assistants
from tests.kit.ports import free_port
from tests.kit.progress import RecordedProgress
from tests.kit.serving import served_agent


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


async def answer(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(f"done: {message.text}")


async def refuse(_: IncomingMessage, task: TaskHandle) -> None:
    await task.reject("not my work")


async def sleep(_: IncomingMessage, task: TaskHandle) -> None:
    await task.working("soon")
    await asyncio.sleep(60)


async def raises(_: IncomingMessage, _task: TaskHandle) -> None:
    raise RuntimeError("out of order")


ABSENT = None
SEED = 4711


async def drive(
    storage: Storage,
    team: Mapping[str, Handler | str | None],
    *,
    start: str = "all",
    budget_s: float = 10,
    calls: TrialCalls | None = None,
) -> tuple[TrialOutcome, str]:
    """Drives one trial of a team, of handlers or URLs; returns its outcome and its trace id. No agent listens where the
    handler is None."""
    async with AsyncExitStack() as agents:
        roster = []
        for name, handler in team.items():
            url = f"http://127.0.0.1:{free_port()}/"
            if isinstance(handler, str):
                url = handler
            elif handler is not None:
                url = await agents.enter_async_context(served_agent(handler))
            roster.append(RosterEntry(id=name, url=url))
        tasks = [TaskSpec(id="t", text="count the trees")]
        plan = AssessmentPlan(
            assessment_id="a1",
            mode=Mode.LIVE,
            config=AssessmentConfig(start=start),
            tasks=tasks,
            roster=roster,
            trials=plan_trials(AssessmentConfig(), tasks),
        )
        (trial,) = plan.trials
        recorder = Recorder(storage.traces, trial.trace_id, TraceLimits())
        assignments = Assignments(
            TokenKeys(SecretStr("x" * 32), storage.secrets.token_secret, storage.now), "http://collector"
        )
        own = assignments.own("a1", trial.trace_id, new_step_id())
        async with Messenger(lambda step, _: recorder.add(step), timeout_s=budget_s) as messenger:
            outcome = await drive_live(
                TrialContext(
                    plan=plan,
                    trial=trial,
                    task=tasks[0],
                    assignment=own.model_copy(update={"agent_seed": SEED}),
                    claims=Claims("a1", trial.trace_id, GREEN_AGENT, time.time() + 60),
                    assignments=assignments,
                    messenger=messenger,
                    traces=storage.traces,
                    channels=Channels(storage.assessments, storage.registry, None),
                    trial_calls=calls or TrialCalls(),
                    progress=RecordedProgress(),
                    recorder=recorder,
                    budget_s=budget_s,
                    assistants=no_assistants(storage),
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


async def test_the_time_used_is_the_time_the_agents_took(storage: Storage) -> None:
    async def work(_: IncomingMessage, task: TaskHandle) -> None:
        await asyncio.sleep(0.05)
        await task.complete("done")

    began = time.monotonic()
    outcome, _ = await drive(storage, {"a": answer, "b": work})
    assert 0.05 <= outcome.time_used <= time.monotonic() - began


async def test_the_gateways_own_calls_are_stored_as_observed(storage: Storage) -> None:
    _, trace_id = await drive(storage, {"a": answer})
    batches = [batch async for batch in storage.traces.batches(trace_id)]
    assert [(batch.reporter, batch.channel, batch.authenticated) for batch in batches] == [
        (GREEN_AGENT, Channel.OBSERVED, True)
    ]


@pytest.mark.parametrize(
    ("team", "state"),
    [
        ({"a": answer, "b": refuse}, "completed"),
        ({"a": refuse}, "failed"),
        ({"a": raises}, "failed"),
        ({"a": sleep}, "timeout"),
        ({"a": ABSENT}, "failed"),
        ({"a": ABSENT, "b": answer}, "completed"),
        ({"a": sleep, "b": refuse}, "timeout"),
    ],
    ids=[
        "one answers, one refuses",
        "refusal",
        "exception",
        "no answer in time",
        "absent",
        "one absent, one answers",
        "one too slow, one refuses",
    ],
)
async def test_the_trials_state_follows_from_the_participants_answers(
    storage: Storage, team: dict[str, Handler | None], state: str
) -> None:
    outcome, _ = await drive(storage, team, budget_s=1 if sleep in team.values() else 60)
    assert outcome.state == state
    assert (outcome.error is None) == (set(team.values()) == {answer})
    answers = {each.agent: (each.state, each.text is None, each.error is None) for each in outcome.answers}
    assert answers == {
        name: ("completed", False, True) if handler is answer else (answers[name][0], True, False)
        for name, handler in team.items()
    }


async def test_each_participants_answer_is_kept_separately(storage: Storage) -> None:
    outcome, _ = await drive(storage, {"a": answer, "b": answer})
    assert [(each.agent, each.text) for each in outcome.answers] == [
        ("a", "done: count the trees"),
        ("b", "done: count the trees"),
    ]


async def test_an_answer_of_data_alone_is_kept_as_json(storage: Storage) -> None:
    async def count(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(data={"trees": "12"})

    outcome, _ = await drive(storage, {"a": count})
    assert [each.text for each in outcome.answers] == ['{"trees": "12"}']


async def test_the_agents_seed_is_in_its_assignment(storage: Storage) -> None:
    seeds: list[int | None] = []

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        mine = Assignment.from_metadata(message.metadata)
        assert mine is not None
        seeds.append(mine.agent_seed)
        await task.complete("ok")

    await drive(storage, {"a": listen})
    assert seeds == [SEED]


async def test_every_participant_gets_a_token_of_its_own(storage: Storage) -> None:
    tokens: dict[str, str] = {}

    async def listen(message: IncomingMessage, task: TaskHandle) -> None:
        mine = Assignment.from_metadata(message.metadata)
        assert mine is not None
        assert mine.token is not None
        tokens[mine.agent_id] = mine.token.get_secret_value()
        await task.complete("ok")

    _, trace_id = await drive(storage, {"a": listen, "b": listen})
    verifier = TokenVerifier([SecretStr("x" * 32)])
    claims = {name: verifier.read(token) for name, token in tokens.items()}
    assert {name: (claim.agent_id, claim.trace_id, claim.assessment_id) for name, claim in claims.items()} == {
        name: (name, trace_id, "a1") for name in ("a", "b")
    }


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
    assert [(b.reporter, b.dropped, [r.step.step_id for r in reports_of(b)]) for b in in_band] == [("a", 1, ["own"])]


async def callees(storage: Storage, trace_id: str) -> list[str]:
    steps = [r.step async for batch in storage.traces.batches(trace_id) for r in reports_of(batch)]
    return sorted(step.agent_call.agent_name for step in steps if step.agent_call is not None)
