"""Evaluation with workers that are killed: every trial is evaluated, and none twice."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from concord.assessment.jobs import EvaluateTrial, Queue
from concord.storage.connection import Storage, connect
from concord.storage.trial_documents import TrialDocuments
from concord.trace.decoding import reports_of
from concord.trace.report import BatchReceipt, Channel, ReportBatch, StepBatch, pack
from concord.trace.step import CallType
from concord.wire.roster import new_trace_id
from concord_evaluator.documents import TrialEvaluation
from tests.kit.traces import call
from tests.kit.trials import outcome, plan
from tests.kit.workers import worker

TRIALS = 60
CALLS = 20
PATIENT = {"CONCORD_JOB_TIMEOUT_FAST_S": "3600"}
"""Without leases, a killed worker's jobs would start again after an hour."""


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url, retry_s=15) as opened:
        yield opened


def batch(trace_id: str) -> ReportBatch:
    """A batch of calls."""
    steps = [call(str(number), "B", trace_id=trace_id, latency=5) for number in range(CALLS)]
    reported = StepBatch(trace_id=trace_id, reporter="A", steps=steps)
    return ReportBatch(
        batch_id=reported.batch_id,
        trace_id=trace_id,
        reporter=reported.reporter,
        authenticated=True,
        channel=Channel.HTTP,
        received_at=datetime.now(UTC),
        n_steps=len(steps),
        dropped=0,
        body=pack(reported.model_dump_json(exclude_none=True).encode()),
    )


async def queue_trials(storage: Storage) -> dict[str, str]:
    """Queues the evaluation of an assessment's trials; returns the trace of each trial."""
    template = plan("AB", trials=TRIALS)
    planned = template.model_copy(
        update={"trials": [each.model_copy(update={"trace_id": new_trace_id()}) for each in template.trials]}
    )
    await storage.assessments.save_plan(planned)
    trials = TrialDocuments(storage.assessments)
    for trial in planned.trials:
        await storage.traces.append(batch(trial.trace_id), BatchReceipt(accepted=CALLS, rejected=[]))
        ended = outcome(trial.trial_id, closed_after=1)
        await trials.add(planned.assessment_id, trial.trial_id, "outcome", ended.model_dump_json())
        request = EvaluateTrial(assessment_id=planned.assessment_id, trial_id=trial.trial_id)
        await storage.jobs.enqueue(request.job())
    return {trial.trial_id: trial.trace_id for trial in planned.trials}


async def evaluated(storage: Storage, trials: dict[str, str]) -> dict[str, TrialEvaluation]:
    """The evaluations that exist so far, by trial."""
    loaded = await TrialDocuments(storage.assessments).parts("assessment", list(trials), "evaluation")
    found = zip(trials, loaded, strict=True)
    return {name: TrialEvaluation.model_validate_json(text) for name, text in found if text is not None}


async def own_steps(storage: Storage, trace_id: str) -> int:
    """The number of times that a trace records its evaluation: 0 if a worker was killed just before it recorded it."""
    batches = [each async for each in storage.traces.batches(trace_id)]
    return sum(report.step.kind is CallType.HOST for each in batches for report in reports_of(each))


async def test_a_worker_killed_at_work_loses_no_trial_and_evaluates_none_twice(
    storage: Storage, redis_url: str, tmp_path: Path
) -> None:
    trials = await queue_trials(storage)
    with worker(Queue.FAST, redis_url, tmp_path / "killed", **PATIENT) as killed:
        async with asyncio.timeout(60):
            while await storage.jobs.depth(Queue.FAST) == TRIALS:
                await asyncio.sleep(0.01)
            killed.kill()
        assert 0 < len(await evaluated(storage, trials)) < TRIALS, "it was not killed at work"
        with worker(Queue.FAST, redis_url, tmp_path / "next", **PATIENT):
            async with asyncio.timeout(60):
                while len(done := await evaluated(storage, trials)) < TRIALS or await storage.jobs.depth(Queue.FAST):
                    await asyncio.sleep(0.1)
    assert {each.trace_integrity.steps for each in done.values()} == {CALLS}
    assert {await own_steps(storage, trace_id) for trace_id in trials.values()} <= {0, 1}
    assert await storage.jobs.depth(Queue.LLM) == TRIALS
    assert await storage.jobs.dead_letters() == []
