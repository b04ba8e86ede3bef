"""`python -m concord_evaluator`: a worker on one of the two queues, or the replay of dead letters."""

import argparse
import asyncio
from functools import partial

from concord.assessment.jobs import Queue
from concord.loopback import LOOPBACK
from concord.service.logs import configure_logging
from concord.service.program import run_until_signalled
from concord.service.servers import check_servers
from concord.storage.connection import connect
from concord.tracing import configure_tracing
from concord_evaluator.settings import EvaluatorSettings
from concord_evaluator.work import WorkerInstruments, broken_plugin, process_pool, work


def main() -> None:
    """Parses the arguments, then works until stopped or replays dead letters."""
    parser = _parser()
    arguments = parser.parse_args()
    if arguments.queue is None and not arguments.replay_dead_letters:
        parser.error("--queue is needed to work")
    if (fault := broken_plugin()) is not None:
        parser.error(fault)
    settings = EvaluatorSettings()
    configure_logging("evaluator", level=settings.log_level, form=settings.log_format)
    check_servers(settings)
    configure_tracing("evaluator")
    if arguments.replay_dead_letters:
        print(f"queued again: {asyncio.run(replay(settings, arguments.queue))}")  # noqa: T201 - the command's answer
    else:
        instruments = WorkerInstruments(arguments.queue)
        with instruments.served(arguments.host, arguments.port):
            run_until_signalled(partial(_work, settings, arguments.queue, instruments))


async def _work(settings: EvaluatorSettings, queue: Queue, instruments: WorkerInstruments, stop: asyncio.Event) -> None:
    async with process_pool(settings, instruments) as pool:
        await work(queue, settings, pool, instruments, stop)


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
