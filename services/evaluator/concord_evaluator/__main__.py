"""`python -m concord_evaluator`: a worker on one of the two queues, or the replay of dead letters."""

import argparse
import asyncio

from concord.assessment.jobs import Queue
from concord.llm import LLMSettings
from concord.loopback import LOOPBACK
from concord.service.logs import configure_logging
from concord.storage.connection import WORK_RETRY_S, connect, run_worker
from concord.tracing import configure_tracing
from concord_evaluator.criteria import CriteriaEvaluator
from concord_evaluator.instruments import WorkerInstruments
from concord_evaluator.judge import TrialJudge
from concord_evaluator.metrics import BrokenMetricError, installed_metrics
from concord_evaluator.pipeline import BrokenEvaluatorError, installed_evaluators
from concord_evaluator.scorers import BrokenScorerError, installed_scorers
from concord_evaluator.settings import EvaluatorSettings
from concord_evaluator.worker import EvaluatorJobs, ProcessPool


def main() -> None:
    """Parses the arguments, then works until stopped or replays dead letters."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.queue is None and not arguments.replay_dead_letters:
        parser.error("--queue is needed to work")
    try:
        installed_metrics()
        installed_evaluators()
        installed_scorers()
    except (BrokenMetricError, BrokenEvaluatorError, BrokenScorerError) as error:
        parser.error(str(error))
    settings = EvaluatorSettings()
    configure_logging("evaluator", level=settings.log_level, form=settings.log_format)
    configure_tracing("evaluator")
    if arguments.replay_dead_letters:
        print(f"queued again: {asyncio.run(replay(settings, arguments.queue))}")  # noqa: T201 - the command's answer
    else:
        instruments = WorkerInstruments(arguments.queue)
        with instruments.served(arguments.host, arguments.port):
            asyncio.run(work(settings, arguments.queue, instruments))


async def work(settings: EvaluatorSettings, queue: Queue, instruments: WorkerInstruments) -> None:
    """Runs a worker on a queue until SIGTERM or SIGINT."""
    async with (
        connect(settings.redis_url, settings.queue_redis_url, retry_s=WORK_RETRY_S) as storage,
        ProcessPool(
            settings.pool_processes,
            memory_bytes=settings.pool_memory_bytes,
            limit_s=settings.pool_limit_s,
            on_replaced=instruments.replaced.inc,
        ) as pool,
    ):
        if queue is Queue.FAST:
            await pool.warm_up()
        judge = TrialJudge(
            LLMSettings(), samples=settings.judge_samples, deadline_s=settings.judge_deadline_s, cache=storage.answers
        )
        criteria = CriteriaEvaluator(LLMSettings(), deadline_s=settings.judge_deadline_s, cache=storage.answers)
        jobs = EvaluatorJobs(
            storage.traces, storage.assessments, storage.jobs, pool, judge, settings.evaluation_limits, criteria
        )
        await run_worker(
            settings.queue_redis_url or settings.redis_url,
            queue,
            jobs.functions(queue),
            settings.policy(queue),
            jobs.on_dead_letter,
            on_attempt=instruments.count_attempt,
        )


async def replay(settings: EvaluatorSettings, queue: Queue | None) -> int:
    """Queues the dead letters of one queue (None: of all) again. Returns their number."""
    async with connect(settings.redis_url, settings.queue_redis_url) as storage:
        letters = [letter for letter in await storage.jobs.dead_letters() if queue in {None, letter.job.queue}]
        for letter in letters:
            await storage.jobs.replay(letter)
    return len(letters)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser("concord_evaluator", description="Evaluate traces from Redis (REDIS_URL).")
    parser.add_argument("--queue", type=Queue, choices=list(Queue), help="queue to work on")
    parser.add_argument("--host", default=LOOPBACK, help="address on which to serve /metrics (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, help="port on which to serve /metrics (default: not served)")
    parser.add_argument(
        "--replay-dead-letters", action="store_true", help="queue the jobs that failed permanently again, and exit"
    )
    return parser


if __name__ == "__main__":
    main()
