"""Large requests: their cost grows linearly with their size, and their work leaves the event loop regular turns."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from pydantic import SecretStr

from concord.assessment import (
    AssessmentConfig,
    AssessmentPlan,
    AssessmentRequest,
    InteractionPattern,
    Mode,
    TaskSpec,
    TimeLimits,
)
from concord.assessment import plan_trials as plan_trials_of
from concord.assessment.jobs import ROW_DOCUMENT, EvaluateTrial, Queue, TrialVerdict
from concord.assessment.result_row import InfrastructureFailure
from concord.llm import LLMSettings
from concord.processes import CallsInThread
from concord.storage import TraceLimits
from concord.storage.connection import Storage, connect
from concord.storage.trial_documents import TrialDocuments
from concord.trace.stored_step import Step
from concord.trust.tokens import ClosedTrials, TokenKeys
from concord.trust.urls import PeerUrls
from concord.wire.roster import new_trace_id
from concord_evaluator.criteria.evaluation import CriteriaEvaluator
from concord_evaluator.judge import TrialJudge
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.worker.jobs import EvaluatorJobs
from concord_gateway.assessment import RunningAssessment
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.assignments import Assignments, OpenCalls
from concord_gateway.assistants import Scenarios
from concord_gateway.drivers import ground_truth
from concord_gateway.instruments import Instruments
from concord_gateway.intake import NotAnAssessmentError, plan_work
from concord_gateway.plan import Participants
from concord_gateway.proxy import ByteBudget, CallRecorder, Carrier, Upstream
from concord_gateway.settings import GatewaySettings
from tests.kit.assistants import no_assistants
from tests.kit.progress import RecordedProgress
from tests.kit.rows import make_row
from tests.kit.trials import outcome

PAIR = {"agents": ["A", "B"], "edges": [{"from": "A", "to": "B"}]}


class IterationCounter(list[Any]):
    """A list that counts its iterations."""

    iterations = 0

    def __iter__(self) -> Iterator[Any]:
        self.iterations += 1
        return super().__iter__()

    def index(self, *arguments: object) -> int:
        self.iterations += 1
        return super().index(*arguments)  # type: ignore[arg-type]


def plan_of(n_trials: int, **pattern: int) -> AssessmentPlan:
    """A plan of so many tasks with one trial each."""
    given = InteractionPattern.model_validate(PAIR | pattern)
    tasks = [TaskSpec(id=f"t{number}", interaction_pattern=given) for number in range(n_trials)]
    plan = AssessmentPlan(
        assessment_id=new_trace_id(),
        mode=Mode.GROUND_TRUTH,
        config=AssessmentConfig(),
        tasks=tasks,
        roster=[],
        trials=plan_trials_of(AssessmentConfig(), tasks),
    )
    return plan.model_copy(update={"tasks": IterationCounter(plan.tasks), "trials": IterationCounter(plan.trials)})


@asynccontextmanager
async def run_of(plan: AssessmentPlan, storage: Storage, slots: int = 64) -> AsyncIterator[RunningAssessment]:
    """A run of an assessment."""
    token_keys = TokenKeys(SecretStr("s" * 40), storage.secrets.token_secret, storage.now)
    assignments, open_calls = Assignments(token_keys, "http://collector"), OpenCalls()
    async with Upstream() as upstream:
        budget, instruments = ByteBudget(), Instruments()
        calls = CallRecorder(storage.traces, TraceLimits(), open_calls, instruments, budget)
        carrier = Carrier(upstream, assignments, instruments, calls, budget)
        closed = ClosedTrials(storage.traces.is_closed)
        participants = Participants(assignments, open_calls, carrier, None, PeerUrls(()), storage.traces, closed)
        record = await AssessmentRecord.begin(storage.assessments, plan, TimeLimits(60, 60), [])
        yield RunningAssessment(
            record,
            storage,
            GatewaySettings(),
            RecordedProgress(),
            participants,
            asyncio.Semaphore(slots),
            no_assistants(storage),
        )


async def store_verdicts(storage: Storage, plan: AssessmentPlan) -> None:
    """Stores verdicts and a row in the evaluator's place."""
    failure = InfrastructureFailure(trial_id=None, stage="evaluation", message="nobody looked")
    verdict = TrialVerdict(failure=failure).model_dump_json()
    for trial in list(plan.trials):
        await TrialDocuments(storage.assessments).add(plan.assessment_id, trial.trial_id, "verdict", verdict)
    await storage.assessments.save(plan.assessment_id, ROW_DOCUMENT, make_row().model_dump_json())


async def iterations(n_trials: int, storage: Storage) -> tuple[int, int]:
    plan = plan_of(n_trials)
    await store_verdicts(storage, plan)
    async with run_of(plan, storage) as run:
        tasks, trials = run.plan.tasks, run.plan.trials
        assert isinstance(tasks, IterationCounter)
        assert isinstance(trials, IterationCounter)
        tasks.iterations = trials.iterations = 0
        await run.run()
    return tasks.iterations, trials.iterations


async def test_the_number_of_iterations_over_a_plan_does_not_depend_on_its_trials(redis_url: str) -> None:
    async with connect(redis_url) as storage:
        assert await iterations(8, storage) == await iterations(24, storage)


def test_a_request_for_more_than_a_million_calls_is_refused() -> None:
    tasks = [{"id": f"t{number}", "interaction_pattern": PAIR | {"steps_count": 10_000}} for number in range(101)]
    with pytest.raises(NotAnAssessmentError, match="1010000 calls"):
        plan_work(AssessmentRequest.model_validate({"config": {"tasks": tasks}}), Scenarios(()))
    assert (
        len(plan_work(AssessmentRequest.model_validate({"config": {"tasks": tasks[:100]}}), Scenarios(())).trials)
        == 100
    )


async def test_a_worker_reads_a_plan_once_for_all_trials(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plan, reads = plan_of(12), 0
    async with connect(redis_url) as storage:
        await storage.assessments.save_plan(plan)
        load = storage.assessments.plan

        async def counted(assessment_id: str) -> AssessmentPlan | None:
            nonlocal reads
            reads += 1
            return await load(assessment_id)

        monkeypatch.setattr(storage.assessments, "plan", counted)
        judge = TrialJudge(LLMSettings(api_key=None), samples=1, deadline_s=60)
        jobs = EvaluatorJobs(
            storage.traces,
            storage.assessments,
            storage.jobs,
            CallsInThread(),
            judge,
            EvaluationLimits(1000, 30),
            CriteriaEvaluator(None, deadline_s=60),
        )
        trials = TrialDocuments(storage.assessments)
        for trial in list(plan.trials):
            ended = outcome(trial.trial_id).model_dump_json()
            await trials.add(plan.assessment_id, trial.trial_id, "outcome", ended)
            request = EvaluateTrial(assessment_id=plan.assessment_id, trial_id=trial.trial_id)
            await jobs.evaluate_trial(request.job().arguments)
        trial_ids = [trial.trial_id for trial in plan.trials]
        assert None not in await trials.parts(plan.assessment_id, trial_ids, "verdict")
    assert reads == 1


async def test_a_long_pattern_is_written_in_pieces_between_turns_of_the_event_loop(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rounds, made, make = 0, Counter[int](), ground_truth._step

    def counted(trace_id: str, number: int, callee: str) -> Step:
        made[rounds] += 1
        return make(trace_id, number, callee)

    async def count_rounds() -> None:
        nonlocal rounds
        while True:
            await asyncio.sleep(0)
            rounds += 1

    monkeypatch.setattr(ground_truth, "_step", counted)
    plan = plan_of(1, steps_count=10_000)
    async with connect(redis_url) as storage, run_of(plan, storage) as run:
        await store_verdicts(storage, plan)
        counting = asyncio.create_task(count_rounds())
        await run.run()
        counting.cancel()
        assert await storage.traces.length(plan.trials[0].trace_id) > 10
    assert sum(made.values()) == 10_000
    assert max(made.values()) <= ground_truth.MAX_STEPS


async def test_the_number_of_trials_waiting_for_evaluation_is_limited(redis_url: str) -> None:
    plan, slots = plan_of(9), 3
    async with connect(redis_url) as storage, run_of(plan, storage, slots) as run:
        running = asyncio.create_task(run.run())
        async with asyncio.timeout(60):
            while not await storage.traces.length(plan.trials[slots].trace_id):
                await asyncio.sleep(0.01)
        for _ in range(50):  # chances for the next trial to be driven
            await storage.ping()
        assert await storage.jobs.depth(Queue.FAST) == slots
        assert not await storage.traces.length(plan.trials[slots + 1].trace_id)
        await store_verdicts(storage, plan)
        await running
        assert all([await storage.traces.length(trial.trace_id) for trial in list(plan.trials)])
        assert run.evaluations._value == slots
