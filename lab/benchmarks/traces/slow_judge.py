"""The time from the stored trace of a trial with ten thousand steps to its verdict, with a slow model."""

import time
from itertools import pairwise
from pathlib import Path
from typing import Final

from concord.assessment.jobs import EvaluateTrial, JudgeTrial, TrialVerdict
from concord.processes import ProcessPool
from concord.storage.connection import Storage, connect
from concord.storage.trial_documents import TrialDocuments
from concord.trace.report import BatchReceipt
from concord_evaluator.criteria.evaluation import CriteriaEvaluator
from concord_evaluator.judge import TrialJudge
from concord_evaluator.settings import EvaluationLimits
from concord_evaluator.worker.jobs import EvaluatorJobs
from lab.benchmarks.processes import redis_server
from lab.benchmarks.tables import ResultTable
from lab.benchmarks.traces.one_evaluation import TRIAL_ID, outcome, plan
from tests.kit.llm_server import FakeModel, fake_model, honest_judge
from tests.kit.synthetic_traces import TRACE_ID, stored_batches

AGENTS: Final = 100
STEPS: Final = 10_000
MODEL_TAKES_S: Final = 5.0
PROMISED_S: Final = 30
UNBOUNDED: Final = EvaluationLimits(steps=10**9, seconds=10**9)


async def limits(folder: Path) -> ResultTable:
    """Runs the worker's own jobs with a real Redis and a model over real HTTP."""
    model = FakeModel(honest_judge(), delay_s=MODEL_TAKES_S)
    with redis_server(folder / "redis") as redis_url:
        async with (
            connect(redis_url) as storage,
            ProcessPool(1, memory_bytes=4 << 30) as pool,
            fake_model(model) as endpoint,
        ):
            calls = pool.calls(cpu_s=100, limit_s=100)
            settings = endpoint.model_copy(update={"timeout_s": 6 * MODEL_TAKES_S})
            judge = TrialJudge(settings, samples=1, deadline_s=9 * MODEL_TAKES_S)
            jobs = EvaluatorJobs(
                storage.traces,
                storage.assessments,
                storage.jobs,
                calls,
                judge,
                UNBOUNDED,
                CriteriaEvaluator(None, deadline_s=5),
            )
            await _store(storage)
            moments = [time.perf_counter()]
            await jobs.evaluate_trial(EvaluateTrial(assessment_id=TRACE_ID, trial_id=TRIAL_ID).job().arguments)
            moments.append(time.perf_counter())
            await jobs.judge_trial(JudgeTrial(assessment_id=TRACE_ID, trial_id=TRIAL_ID).job().arguments)
            moments.append(time.perf_counter())
            source = await _judged_by(storage)
    evaluation, judgment = (after - before for before, after in pairwise(moments))
    waiting = MODEL_TAKES_S * len(model.asked)
    rows = [
        ("reading, graph, metrics, findings, latency, evidence", evaluation),
        ("judgment: checking, scoring", judgment - waiting),
        ("judgment: waiting for the model", waiting),
        ("all", evaluation + judgment),
    ]
    return ResultTable(
        "A trial with a slow judge",
        f"{AGENTS} agents, {STEPS:,} steps, from Redis to the verdict by the worker's own jobs; promised are "
        f"{PROMISED_S} s. The model answers after {MODEL_TAKES_S:g} s; its answers waited for: {len(model.asked)}. The "
        f"judgment's source is {source}.",
        ("part", "seconds"),
        [(name, f"{seconds:.2f}") for name, seconds in rows],
    )


async def _store(storage: Storage) -> None:
    await storage.assessments.save_plan(plan(AGENTS))
    await TrialDocuments(storage.assessments).add(TRACE_ID, TRIAL_ID, "outcome", outcome().model_dump_json())
    for batch in stored_batches(AGENTS, STEPS):
        await storage.traces.append(batch, BatchReceipt(accepted=batch.n_steps, rejected=[]))


async def _judged_by(storage: Storage) -> str:
    """The judgment's source. Raises AssertionError without a verdict on the whole trace."""
    verdict = await TrialDocuments(storage.assessments).part(TRACE_ID, TRIAL_ID, "verdict")
    assert verdict is not None
    record = TrialVerdict.model_validate_json(verdict).record
    assert record is not None and record.judge is not None and record.trace_integrity.steps == STEPS  # noqa: PT018
    return record.judge.source
