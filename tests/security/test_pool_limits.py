"""The limits of a worker's processes: a job that exceeds one fails by name, and no other job is affected."""

import asyncio
import os
import signal
import time
from collections.abc import Mapping

import pytest
from pydantic import JsonValue

from concord.assessment.jobs import Job, Queue
from concord.storage import RetryLater
from concord.storage.connection import WorkerPolicy, connect, run_worker
from concord_evaluator.worker import JobTooLargeError, ProcessPool

LIMIT = 256 * 1024 * 1024


def _die_after(seconds: float) -> None:
    time.sleep(seconds)
    os.kill(os.getpid(), signal.SIGKILL)


def _pid_after(seconds: float) -> int:
    time.sleep(seconds)
    return os.getpid()


async def test_a_call_beyond_the_memory_limit_raises_job_too_large_error() -> None:
    async with ProcessPool(1, memory_bytes=LIMIT, limit_s=60) as pool:
        with pytest.raises(JobTooLargeError, match=r"memory limit of 0\.25 GiB"):
            await pool.run("hog", bytearray, 2 * LIMIT)
        assert len(await pool.run("modest", bytearray, LIMIT // 8)) == LIMIT // 8


async def test_a_call_beyond_the_time_limit_is_ended_and_its_process_replaced() -> None:
    async with ProcessPool(1, memory_bytes=LIMIT, limit_s=3) as pool:
        with pytest.raises(JobTooLargeError, match="time limit of 3 s"):
            await pool.run("endless", _pid_after, 600)
        assert await pool.run("next", os.getpid) != os.getpid()


async def test_a_process_that_dies_does_not_affect_other_calls() -> None:
    async with ProcessPool(2, memory_bytes=LIMIT, limit_s=60) as pool:
        killed, other = await asyncio.gather(
            pool.run("deadly", _die_after, 0.2), pool.run("innocent", _pid_after, 1.0), return_exceptions=True
        )
    assert isinstance(killed, RetryLater)
    assert isinstance(other, int)


async def test_a_job_beyond_the_memory_limit_is_a_dead_letter_after_one_try(redis_url: str) -> None:
    stop, tries, letters = asyncio.Event(), 0, []
    async with connect(redis_url) as storage, ProcessPool(1, memory_bytes=LIMIT, limit_s=60) as pool:

        async def hog(_: Mapping[str, JsonValue]) -> None:
            nonlocal tries
            tries += 1
            await pool.run("hog", bytearray, 2 * LIMIT)

        async def bury(job: Job, error: str) -> None:
            letters.append((job.job_id, error))
            stop.set()

        await storage.jobs.enqueue(Job("hog", "large", Queue.FAST, {}))
        await run_worker(redis_url, Queue.FAST, {"hog": hog}, WorkerPolicy(timeout_s=30), bury, stop=stop)
        [letter] = await storage.jobs.dead_letters()
    assert (tries, [job_id for job_id, _ in letters]) == (1, ["large"])
    assert "the job exceeded its memory limit" in letter.error
