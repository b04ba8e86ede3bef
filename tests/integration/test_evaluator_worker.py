"""The evaluator's jobs on a real Redis: each has its effect once, a lost process is replaced, a failure is recorded."""

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import (
    ROW_DOCUMENT,
    ROW_FAILURE_DOCUMENT,
    AggregateAssessment,
    EvaluateTrial,
    JudgeTrial,
    Queue,
    TrialVerdict,
)
from concord.assessment.result_row import InfrastructureFailure, Loss, ResultRow
from concord.errors import StorageUnavailableError
from concord.llm import NO_KEY, LLMSettings
from concord.processes import Calls, CallsInThread, LimitExceededError
from concord.storage.connection import Storage, connect, run_worker
from concord.storage.job_policy import WorkerPolicy
from concord.storage.trial_documents import TrialDocuments, TrialPart
from concord.trace.decoding import reports_of
from concord.trace.report import BatchReceipt, ReportBatch
from concord.trace.step import CallType
from concord_evaluator.__main__ import replay
from concord_evaluator.criteria.evaluation import CriteriaEvaluator
from concord_evaluator.judge import TrialJudge
from concord_evaluator.settings import EvaluationLimits, EvaluatorSettings
from concord_evaluator.worker.jobs import EvaluatorJobs, JobCalls
from concord_evaluator.worker.pool_functions import evidence_on
from concord_gateway.assessment_record import with_replays
from tests.kit.graphs import mesh
from tests.kit.llm_server import FakeModel, fake_model, honest_judge
from tests.kit.serving import eventually
from tests.kit.stack import workers
from tests.kit.traces import TRACE_ID, call, reported_by
from tests.kit.trials import answered_by_all, batch, batches_of, outcome, plan

P = ParamSpec("P")
T = TypeVar("T")

TEAM = mesh(3)
LIMITS = EvaluationLimits(steps=1000, seconds=30)
PLAN = plan(TEAM[0])
ENDED = answered_by_all(PLAN, outcome(closed_after=6))
EVALUATE = EvaluateTrial(assessment_id=PLAN.assessment_id, trial_id="trial-1")
JUDGE = JudgeTrial(assessment_id=PLAN.assessment_id, trial_id="trial-1")
FAILED = TrialVerdict(failure=InfrastructureFailure(trial_id="trial-1", stage="judgment", message="it was a bad day"))
AGGREGATE = AggregateAssessment(assessment_id=PLAN.assessment_id)


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    """A storage with a plan and the trace of its one trial: a mesh of three agents, one call per batch."""
    async with stored(redis_url, PLAN) as opened:
        yield opened


def ungraded(redis_url: str) -> AbstractAsyncContextManager[Storage]:
    """The same, where only a judge can grade the trial's task."""
    return stored(redis_url, plan(TEAM[0], graded=False))


@asynccontextmanager
async def stored(redis_url: str, planned: AssessmentPlan) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        await opened.assessments.save_plan(planned)
        trials = TrialDocuments(opened.assessments)
        await trials.add(PLAN.assessment_id, "trial-1", "outcome", ENDED.model_dump_json())
        for batch in batches_of(TEAM, latency=5):
            await opened.traces.append(batch, BatchReceipt(accepted=1, rejected=[]))
        yield opened


@pytest.fixture
def calls() -> Calls:
    return CallsInThread()


class CostlyScreening(CallsInThread):
    """Calls in which the screening of a trial's texts takes too much CPU time."""

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        if function is evidence_on:
            raise LimitExceededError("the work exceeded its limit of 0.5 s of CPU time")
        return await super().run(owner, function, *args, **kwargs)


@pytest.fixture
def jobs(storage: Storage, calls: Calls) -> EvaluatorJobs:
    return jobs_of(storage, calls)


def jobs_of(storage: Storage, calls: Calls, judge: TrialJudge | None = None) -> EvaluatorJobs:
    judge = judge or TrialJudge(LLMSettings(api_key=None), samples=1, deadline_s=60)
    return EvaluatorJobs(
        storage.traces, storage.assessments, storage.jobs, calls, judge, LIMITS, CriteriaEvaluator(None, deadline_s=60)
    )


async def document(storage: Storage, name: str, timeout_s: float = 60) -> str:
    """The document with this name, once it exists."""
    async with asyncio.timeout(timeout_s):
        while (found := await storage.assessments.load(PLAN.assessment_id, name)) is None:
            await asyncio.sleep(0.05)
    return found


async def part(storage: Storage, name: TrialPart, trial_id: str = "trial-1") -> str:
    """A part of the document of a trial, once it exists."""
    trials = TrialDocuments(storage.assessments)
    async with asyncio.timeout(60):
        while (found := await trials.part(PLAN.assessment_id, trial_id, name)) is None:
            await asyncio.sleep(0.05)
    return found


async def verdict_in(storage: Storage) -> TrialVerdict:
    return TrialVerdict.model_validate_json(await part(storage, "verdict"))


async def steps_in_trace(storage: Storage) -> list[tuple[str, CallType]]:
    batches = [batch async for batch in storage.traces.batches(TRACE_ID)]
    return [(report.reporter, report.step.kind) for batch in batches for report in reports_of(batch)]


@asynccontextmanager
async def llm_worker(storage: Storage, jobs: EvaluatorJobs, url: str, *, note: str) -> AsyncIterator[None]:
    """A worker on the queue for the language model, with that note."""
    stop, functions = asyncio.Event(), jobs.functions(Queue.LLM)
    policy = WorkerPolicy(timeout_s=60, poll_s=60)
    async with asyncio.TaskGroup() as group:
        group.create_task(run_worker(url, Queue.LLM, functions, policy, jobs.on_dead_letter, stop=stop, note=note))
        async with asyncio.timeout(60):
            while await storage.jobs.worker_note(Queue.LLM) != note:
                await asyncio.sleep(0.02)
        yield
        stop.set()


class TestJobs:
    async def test_a_trial_becomes_a_verdict_and_the_assessment_a_row(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        await jobs.aggregate_assessment(AGGREGATE.job().arguments)
        verdict = await verdict_in(storage)
        row = ResultRow.model_validate_json(await document(storage, ROW_DOCUMENT))
        assert (verdict.record is None, verdict.failure) == (False, None)
        assert row.detail.trials == [verdict.record]
        assert (row.score, row.detail.coordination_quality, row.detail.latency_metrics.n) == (100.0, "high", 6)

    async def test_a_repeated_evaluation_job_changes_nothing_and_queues_no_second_judgment(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        first = await part(storage, "evaluation")
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        assert await part(storage, "evaluation") == first
        assert await storage.jobs.depth(Queue.LLM) == 1
        assert (await steps_in_trace(storage)).count(("green-agent", CallType.HOST)) == 1

    async def test_repeated_jobs_leave_a_judged_trials_verdict_unchanged(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        verdict = await part(storage, "verdict")
        await jobs.judge_trial(JUDGE.job().arguments)
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        assert await part(storage, "verdict") == verdict

    async def test_without_a_model_the_fast_job_leaves_the_verdict_and_queues_no_judgment(
        self, storage: Storage, jobs: EvaluatorJobs, redis_url: str
    ) -> None:
        async with llm_worker(storage, jobs, redis_url, note="there is no key"):
            await jobs.evaluate_trial(EVALUATE.job().arguments)
        verdict = await verdict_in(storage)
        assert verdict.record is not None
        assert verdict.record.judge is not None
        assert (verdict.record.judge.source, verdict.record.judge.reason) == ("rules", "there is no key")
        assert await storage.jobs.depth(Queue.LLM) == 0

    async def test_a_judgment_by_the_fast_job_is_that_of_the_judgment_job(
        self, storage: Storage, jobs: EvaluatorJobs, redis_url: str
    ) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        judged = await verdict_in(storage)
        await TrialDocuments(storage.assessments).add(
            *(PLAN.assessment_id, "trial-1", "verdict", FAILED.model_dump_json()),
            instead_of=await part(storage, "verdict"),
        )
        async with llm_worker(storage, jobs, redis_url, note=NO_KEY):
            await jobs.evaluate_trial(EVALUATE.job().arguments)
        assert await verdict_in(storage) == judged

    @pytest.mark.parametrize("stage", ["evaluation", "evidence", "verdict"])
    async def test_a_job_that_is_lost_in_a_stage_goes_on_from_it_and_keeps_the_earlier_ones(
        self, storage: Storage, jobs: EvaluatorJobs, monkeypatch: pytest.MonkeyPatch, stage: TrialPart
    ) -> None:
        saved: list[str] = []
        save_once = storage.assessments.save_once

        async def lost_in_stage(assessment_id: str, name: str, document: str, *, instead_of: str | None = None) -> str:
            if name == f"trial:trial-1:{stage}" and "lost" not in saved:
                saved.append("lost")
                raise StorageUnavailableError("the worker was killed here")
            saved.append(name)
            return await save_once(assessment_id, name, document, instead_of=instead_of)

        async def no_model(_: Queue) -> str:
            return NO_KEY

        monkeypatch.setattr(storage.assessments, "save_once", lost_in_stage)
        monkeypatch.setattr(storage.jobs, "worker_note", no_model)
        with pytest.raises(StorageUnavailableError):
            await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        saved.remove("lost")
        assert saved == [f"trial:trial-1:{each}" for each in ("evaluation", "evidence", "verdict")]
        record = (await verdict_in(storage)).record
        assert record is not None
        assert record.overall_score == 1.0

    async def test_the_trace_of_a_trial_is_read_once(
        self, storage: Storage, jobs: EvaluatorJobs, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        read, batches = [], storage.traces.batches

        def counted(trace_id: str) -> AsyncIterator[ReportBatch]:
            read.append(trace_id)
            return batches(trace_id)

        monkeypatch.setattr(storage.traces, "batches", counted)
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        assert read == [TRACE_ID]

    async def test_the_evaluators_own_steps_are_not_evaluated(self, storage: Storage, jobs: EvaluatorJobs) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        record = (await verdict_in(storage)).record
        assert record is not None
        assert (record.steps.host, record.trace_integrity.steps, record.trace_integrity.late) == (0, 6, 0)

    async def test_reports_after_the_trial_was_closed_are_not_shown_to_the_judge(
        self, storage: Storage, calls: Calls
    ) -> None:
        caller, callee = TEAM[1][0]
        late = batch(7, reported_by(caller, call("000", callee, latency=5, request="told too late")))
        await storage.traces.append(late, BatchReceipt(accepted=1, rejected=[]))
        model = FakeModel(honest_judge())
        async with fake_model(model) as settings:
            jobs = EvaluatorJobs(
                storage.traces,
                storage.assessments,
                storage.jobs,
                calls,
                TrialJudge(settings, samples=1, deadline_s=60),
                LIMITS,
                CriteriaEvaluator(None, deadline_s=60),
            )
            await jobs.evaluate_trial(EVALUATE.job().arguments)
            await jobs.judge_trial(JUDGE.job().arguments)
        [asked] = model.asked
        assert "call 1" in json.dumps(asked)
        assert "told too late" not in json.dumps(asked)

    async def test_judging_a_trial_that_was_not_evaluated_raises_lookup_error(self, jobs: EvaluatorJobs) -> None:
        with pytest.raises(LookupError, match="has no evaluation"):
            await jobs.judge_trial(JUDGE.job().arguments)

    async def test_each_queue_has_its_own_jobs(self, jobs: EvaluatorJobs) -> None:
        assert sorted(jobs.functions(Queue.FAST)) == ["aggregate_assessment", "evaluate_trial"]
        assert sorted(jobs.functions(Queue.LLM)) == ["judge_trial"]


class TestDeadLetters:
    async def test_a_judgment_that_failed_without_an_evaluation_leaves_a_failed_verdict(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.on_dead_letter(JUDGE.job(), "x" * 10_000, None)
        verdict = await verdict_in(storage)
        assert verdict.record is None
        assert verdict.failure == InfrastructureFailure(
            trial_id="trial-1", stage="judgment", message="x" * 500, loss=Loss.WORKER, caused_by="concord"
        )

    async def test_a_failed_evaluation_leaves_a_score_without_metrics(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.on_dead_letter(EVALUATE.job(), "it took too long", None)
        await jobs.judge_trial(JUDGE.job().arguments)
        await jobs.aggregate_assessment(AGGREGATE.job().arguments)
        row = ResultRow.model_validate_json(await document(storage, ROW_DOCUMENT))
        assert (row.score, row.task_rewards.graph_density, row.detail.metrics) == (100.0, None, [])
        (failure,) = row.detail.infrastructure
        assert (failure.stage, "it took too long" in failure.message) == ("evaluation", True)

    async def test_a_trial_whose_texts_take_too_much_cpu_time_keeps_its_grade_and_says_so(
        self, storage: Storage
    ) -> None:
        jobs = jobs_of(storage, CostlyScreening())
        with pytest.raises(LimitExceededError) as raised:
            await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.on_dead_letter(EVALUATE.job(), str(raised.value), raised.value)
        verdict = await verdict_in(storage)
        assert verdict.record is not None
        assert verdict.failure is not None
        assert "exceeded its limit of 0.5 s of CPU time" in verdict.failure.message
        assert (verdict.record.overall_score, verdict.record.judge) == (1.0, None)

    async def test_a_trial_without_a_scorer_whose_texts_take_too_much_cpu_time_has_the_outcome_0(
        self, redis_url: str
    ) -> None:
        async with ungraded(redis_url) as storage:
            jobs = jobs_of(storage, CostlyScreening())
            with pytest.raises(LimitExceededError) as raised:
                await jobs.evaluate_trial(EVALUATE.job().arguments)
            await jobs.on_dead_letter(EVALUATE.job(), str(raised.value), raised.value)
            verdict = await verdict_in(storage)
        assert verdict.failure is not None
        assert (verdict.failure.loss, verdict.failure.caused_by) == (Loss.LIMIT, "participants")
        assert verdict.record is not None
        assert (verdict.record.overall_score, verdict.record.passed) == (0.0, False)

    @pytest.mark.parametrize(
        ("again", "cause", "score"), [(False, "concord", None), (True, "participants", 0.0)], ids=["once", "again"]
    )
    async def test_a_judge_that_is_lost_again_in_the_same_way_is_the_participants_loss(
        self, redis_url: str, again: bool, cause: str, score: float | None
    ) -> None:
        async with ungraded(redis_url) as storage:
            jobs, judging = jobs_of(storage, CallsInThread()), JUDGE.model_copy(update={"again": again})
            await jobs.evaluate_trial(EVALUATE.job().arguments)
            await jobs.on_dead_letter(judging.job(), "gave up after 5 tries (the worker died each time)", None)
            verdict = await verdict_in(storage)
        assert verdict.failure is not None
        assert (verdict.failure.loss, verdict.failure.caused_by) == (Loss.WORKER, cause)
        assert verdict.record is not None
        assert verdict.record.overall_score == score

    async def test_a_trial_that_the_model_left_unjudged_is_judged_again_if_that_is_asked_for(
        self, redis_url: str
    ) -> None:
        model = FakeModel(honest_judge(), statuses=[401])
        async with ungraded(redis_url) as storage, fake_model(model) as settings:
            judge = TrialJudge(settings, samples=1, deadline_s=60)
            jobs = jobs_of(storage, CallsInThread(), judge)
            await jobs.evaluate_trial(EVALUATE.job().arguments)
            await jobs.judge_trial(JUDGE.job().arguments)
            lost = await verdict_in(storage)
            await jobs.judge_trial(JUDGE.job().arguments)
            assert (lost.lost_by_judge, await verdict_in(storage)) == (True, lost)
            await jobs.judge_trial(JUDGE.model_copy(update={"again": True}).job().arguments)
            found = await verdict_in(storage)
        assert (found.lost_by_judge, found.record is not None) == (False, True)
        assert found.record is not None
        assert found.record.overall_score is not None

    async def test_a_job_on_an_attempt_that_was_replaced_changes_nothing(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await storage.assessments.save_plan(with_replays(PLAN, ["trial-1"]))
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        trials = TrialDocuments(storage.assessments)
        keys = ["trial-1", "trial-1.2"]
        assert await trials.parts(PLAN.assessment_id, keys, "evaluation") == [None, None]

    async def test_a_failed_judgment_leaves_the_scorers_grade(self, storage: Storage, jobs: EvaluatorJobs) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.on_dead_letter(JUDGE.job(), "it took too long", None)
        verdict = await verdict_in(storage)
        assert verdict.record is not None
        assert (verdict.record.overall_score, verdict.record.judge) == (1.0, None)
        assert verdict.failure is not None
        assert verdict.failure.stage == "judgment"

    async def test_a_failed_aggregation_leaves_a_failure_in_place_of_the_row(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.on_dead_letter(AGGREGATE.job(), "no luck", None)
        failure = InfrastructureFailure.model_validate_json(await document(storage, ROW_FAILURE_DOCUMENT))
        assert (failure.trial_id, failure.stage, failure.message) == (None, "aggregation", "no luck")

    async def test_a_dead_letter_does_not_replace_an_existing_verdict(
        self, storage: Storage, jobs: EvaluatorJobs
    ) -> None:
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        await jobs.on_dead_letter(EVALUATE.job(), "timed out after it was done", None)
        verdict = await verdict_in(storage)
        assert verdict.record is not None

    async def test_a_replayed_dead_letter_leads_to_a_verdict(
        self, storage: Storage, jobs: EvaluatorJobs, redis_url: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        await storage.jobs.bury(EVALUATE.job(), "it was a bad day")
        await jobs.on_dead_letter(EVALUATE.job(), "it was a bad day", None)
        monkeypatch.setenv("REDIS_URL", redis_url)
        assert await replay(EvaluatorSettings(), Queue.LLM) == 0
        assert await replay(EvaluatorSettings(), None) == 1
        assert await storage.jobs.depth(Queue.FAST) == 1
        await jobs.evaluate_trial(EVALUATE.job().arguments)
        await jobs.judge_trial(JUDGE.job().arguments)
        verdict = await verdict_in(storage)
        assert (verdict.record is None, verdict.failure) == (False, None)


class TestJobCalls:
    async def test_a_second_call_with_the_same_name_waits_for_the_first_and_gets_its_result(
        self, calls: Calls, tmp_path: Path
    ) -> None:
        of_jobs = JobCalls(calls)
        first = asyncio.create_task(of_jobs.run("same", _wait_for, tmp_path / "go"))
        await eventually((tmp_path / "go.waiting").exists)
        first.cancel()
        second = asyncio.create_task(of_jobs.run("same", _wait_for, tmp_path / "another"))
        other = asyncio.create_task(of_jobs.run("same", os.getpid))
        (tmp_path / "go").touch()
        assert await second == -(await other), "another function has its own call, in the same process"
        assert not (tmp_path / "another.waiting").exists()


def _wait_for(file: Path) -> int:
    """Waits for a file, and makes another that says so. Returns the negative id of the process."""
    file.with_suffix(".waiting").touch()
    while not file.exists():
        time.sleep(0.01)
    return -os.getpid()


class TestWorkers:
    async def test_workers_process_a_trial_from_the_queue_to_its_row(self, storage: Storage, redis_url: str) -> None:
        async with workers(redis_url):
            await storage.jobs.enqueue(EVALUATE.job())
            await part(storage, "verdict")
            await storage.jobs.enqueue(AGGREGATE.job())
            row = ResultRow.model_validate_json(await document(storage, ROW_DOCUMENT))
        assert row.score == 100.0

    async def test_a_worker_renews_its_heartbeat_file_for_a_probe(
        self, redis_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("concord.storage.redis.worker.HEARTBEAT_S", 0.01)
        file = tmp_path / "heartbeat"
        async with workers(redis_url, [Queue.LLM], heartbeat_file=file):
            await eventually(file.exists)
            first = file.stat().st_mtime_ns
            await eventually(lambda: file.stat().st_mtime_ns > first)

    async def test_a_worker_records_a_failed_verdict_and_a_dead_letter_for_an_impossible_job(
        self, storage: Storage, redis_url: str
    ) -> None:
        nobody = EvaluateTrial(assessment_id=PLAN.assessment_id, trial_id="trial-9")
        async with workers(redis_url, [Queue.FAST]):
            await storage.jobs.enqueue(nobody.job())
            verdict = TrialVerdict.model_validate_json(await part(storage, "verdict", "trial-9"))
        assert verdict.failure is not None
        assert (verdict.failure.stage, "trial-9" in verdict.failure.message) == ("evaluation", True)
        assert [letter.job.job_id for letter in await storage.jobs.dead_letters()] == [nobody.job_id]
