"""Rounds: a large team over many rounds, beside the same number of bare A2A calls; and one that writes to all."""

import asyncio
import logging
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Final

from pydantic import SecretStr

from concord.a2a import A2AClient, Answer
from concord.agent.messenger import Messenger
from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.assessment.suite_tasks import instance_of
from concord.assessment.task_spec import FamilyTask
from concord.storage import TraceLimits
from concord.storage.connection import Storage, connect
from concord.suite import Topology
from concord.trace.attributes import TASK_STATE
from concord.trace.step import InteractionStep
from concord.trust.tokens import Claims, TokenKeys
from concord.trust.urls import PeerUrls
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, RosterEntry, new_step_id, new_trace_id
from concord_gateway.assignments import Assignments, TrialCalls
from concord_gateway.calls import Channels
from concord_gateway.drivers.driver import TrialContext
from concord_gateway.drivers.rounds import drive_rounds
from concord_gateway.recorder import Recorder
from concord_gateway.rounds.exchange import Rounds
from concord_gateway.rounds.texts import turn_text
from lab.benchmarks.gateway import all_to_all
from lab.benchmarks.processes import Server, redis_server, served
from lab.benchmarks.servers import TOKEN_SECRET
from lab.benchmarks.tables import ResultTable
from tests.kit.assistants import no_assistants
from tests.kit.progress import RecordedProgress

SEATS: Final = 100
ROUNDS: Final = 20
REPETITIONS: Final = 3
LIMIT_S: Final = 600.0
_NO_OTHER_URLS: Final = PeerUrls(())
"""As at the gateway, a card leads nowhere but below the declared address."""

AGENTS: Final = {
    "echo_agent": "echo",
    "talking_agent": "writes to both neighbours",
}


@dataclass(frozen=True, slots=True)
class _Cost:
    """Seconds by the clock, and CPU seconds of this process and of the agent's."""

    seconds: float
    cpu_s: float
    agent_cpu_s: float


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """What the gateway adds to the calls of a trial in rounds, and an assessment with many messages."""
    logging.getLogger("concord.a2a.client").setLevel(logging.ERROR)  # the agents' cards name no real address
    rows = list[Sequence[str]]()
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        for name, what in AGENTS.items():
            with served(name, redis_url) as agent:
                bare, driven = asyncio.run(_compared(agent))
            rows += [(f"{what}, bare", *_row(bare, bare)), (f"{what}, in rounds", *_row(driven, bare))]
    return [
        ResultTable(
            f"{SEATS} seats in {ROUNDS} rounds",
            f"{SEATS * ROUNDS} calls of one agent on the A2A SDK, {SEATS} at a time: bare, by Concord's A2A client, "
            "with the texts of the first round; and as turns that the gateway drives, with its steps in Redis. One way "
            f"and the other by turns, the median of {REPETITIONS}. The caller's CPU includes the gateway's driver.",
            ("Agent", "seconds", "ratio", "caller's CPU, ms a call", "ratio", "agent's CPU, ms a call"),
            rows,
        ),
        all_to_all.measure(),
    ]


def _row(cost: _Cost, bare: _Cost) -> Sequence[str]:
    cpu_ms, agent_ms = (1000 * each / (SEATS * ROUNDS) for each in (cost.cpu_s, cost.agent_cpu_s))
    return (
        f"{cost.seconds:.2f}",
        f"{cost.seconds / bare.seconds:.2f}",
        f"{cpu_ms:.2f}",
        f"{cost.cpu_s / bare.cpu_s:.2f}",
        f"{agent_ms:.2f}",
    )


async def _compared(agent: Server) -> tuple[_Cost, _Cost]:
    bare, driven = list[_Cost](), list[_Cost]()
    async with connect(agent.redis_url) as storage:
        for _ in range(REPETITIONS):
            plan = _plan(agent)
            bare.append(await _cost(agent, partial(_bare, agent, plan)))
            driven.append(await _cost(agent, partial(_driven, storage, plan)))
    return _median(bare), _median(driven)


def _median(costs: Sequence[_Cost]) -> _Cost:
    return _Cost(*(median(each) for each in zip(*((c.seconds, c.cpu_s, c.agent_cpu_s) for c in costs), strict=True)))


async def _cost(agent: Server, work: Callable[[], Awaitable[None]]) -> _Cost:
    before, cpu, started = agent.usage()["cpu_s"], time.process_time(), time.perf_counter()
    await work()
    seconds, used = time.perf_counter() - started, time.process_time() - cpu
    return _Cost(seconds, used, agent.usage()["cpu_s"] - before)


def _plan(agent: Server) -> AssessmentPlan:
    family = FamilyTask(name="maximum", seats=SEATS, topology=Topology.RING, max_rounds=ROUNDS)
    tasks = [TaskSpec(id="t", family=family)]
    return AssessmentPlan(
        assessment_id=new_trace_id(),
        mode=Mode.LIVE,
        config=AssessmentConfig(),
        tasks=tasks,
        roster=[RosterEntry(id="agent", url=f"{agent.url}/")],
        trials=plan_trials(AssessmentConfig(), tasks),
        task_secret=bytes(32).hex(),
    )


async def _bare(agent: Server, plan: AssessmentPlan) -> None:
    """As many calls as the team gets, with the texts of its first round."""
    rounds = Rounds(instance_of(plan, plan.trials[0]), ROUNDS)
    rounds.begin()
    texts = [turn_text(rounds, seat) for seat in rounds.task.seats]
    async with await A2AClient.connect(f"{agent.url}/", peer_urls=_NO_OTHER_URLS) as client:
        for _ in range(ROUNDS):
            await asyncio.gather(*(_call(client, text) for text in texts))


async def _call(client: A2AClient, text: str) -> None:
    async for event in client.stream(text=text):
        if isinstance(event, Answer) and not event.succeeded:
            raise RuntimeError(f"the agent ended with {event.state}")


async def _driven(storage: Storage, plan: AssessmentPlan) -> None:
    """A trial, as the gateway drives it."""
    [trial] = plan.trials
    recorder, calls = Recorder(storage.traces, trial.trace_id, TraceLimits()), TrialCalls()
    assignments = Assignments(
        TokenKeys(SecretStr(TOKEN_SECRET), storage.secrets.token_secret, storage.now), "http://collector:9010"
    )

    def on_step(step: InteractionStep, _: Assignment) -> None:
        recorder.add(step)
        calls.end(step.step_id, answered=TASK_STATE in step.additional_attributes)

    async with Messenger(on_step, timeout_s=LIMIT_S, peer_urls=_NO_OTHER_URLS) as messenger:
        outcome = await drive_rounds(
            TrialContext(
                plan=plan,
                trial=trial,
                task=plan.tasks[0],
                assignment=assignments.own(plan.assessment_id, trial.trace_id, new_step_id()),
                claims=Claims(plan.assessment_id, trial.trace_id, GREEN_AGENT, time.time() + LIMIT_S),
                assignments=assignments,
                messenger=messenger,
                traces=storage.traces,
                trial_calls=calls,
                progress=RecordedProgress(),
                recorder=recorder,
                channels=Channels(storage.assessments, storage.registry, None),
                assistants=no_assistants(storage),
                budget_s=LIMIT_S,
            )
        )
        await recorder.write()
    if outcome.rounds is None or outcome.rounds.rounds != ROUNDS:
        raise RuntimeError("the trial ended early")
