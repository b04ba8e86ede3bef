"""The work on a queue: jobs over storage, the judge and the pool, until the program stops."""

import asyncio
from functools import partial

from concord.assessment.jobs import Queue
from concord.llm import LLMSettings
from concord.processes import ProcessPool
from concord.storage.connection import WORK_RETRY_S, connect, run_worker
from concord_evaluator.criteria import CriteriaEvaluator
from concord_evaluator.instruments import WorkerInstruments
from concord_evaluator.judge import TrialJudge
from concord_evaluator.metrics import BrokenMetricError, installed_metrics
from concord_evaluator.pipeline import BrokenEvaluatorError, installed_evaluators
from concord_evaluator.scorers import BrokenScorerError, installed_scorers
from concord_evaluator.settings import EvaluatorSettings
from concord_evaluator.worker import EvaluatorJobs


def broken_plugin() -> str | None:
    """Which installed metric, evaluator or scorer cannot be used, and why; None if all can."""
    try:
        installed_metrics()
        installed_evaluators()
        installed_scorers()
    except (BrokenMetricError, BrokenEvaluatorError, BrokenScorerError) as error:
        return str(error)
    return None


def process_pool(settings: EvaluatorSettings, instruments: WorkerInstruments) -> ProcessPool:
    """The pool of one program, which the workers of both queues may share."""
    return ProcessPool(
        settings.pool_processes,
        memory_bytes=settings.pool_memory_bytes,
        on_replaced=instruments.replaced.inc,
    )


async def work(
    queue: Queue, settings: EvaluatorSettings, pool: ProcessPool, instruments: WorkerInstruments, stop: asyncio.Event
) -> None:
    """Runs a worker on a queue until `stop` is set."""
    async with connect(settings.redis_url, settings.queue_redis_url, retry_s=WORK_RETRY_S) as storage:
        judge = TrialJudge(
            LLMSettings(), samples=settings.judge_samples, deadline_s=settings.judge_deadline_s, cache=storage.answers
        )
        criteria = CriteriaEvaluator(LLMSettings(), deadline_s=settings.judge_deadline_s, cache=storage.answers)
        calls = pool.calls(cpu_s=settings.pool_cpu_s, limit_s=settings.pool_limit_s)
        jobs = EvaluatorJobs(
            storage.traces, storage.assessments, storage.jobs, calls, judge, settings.evaluation_limits, criteria
        )
        await run_worker(
            settings.queue_redis_url or settings.redis_url,
            queue,
            jobs.functions(queue),
            settings.policy(queue),
            jobs.on_dead_letter,
            stop=stop,
            on_attempt=partial(instruments.count_attempt, queue),
            note=judge.without_model or "",
        )
