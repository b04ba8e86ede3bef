"""Workers that are stopped and killed: they leave no process behind."""

import asyncio
from pathlib import Path

import pytest

from concord.assessment.jobs import Queue
from concord.storage.connection import Storage
from tests.integration.test_evaluator_worker import EVALUATE, part, storage
from tests.kit.workers import alive, children, gone, worker

__all__ = ["storage"]


@pytest.mark.smoke
async def test_workers_stop_on_sigterm_with_their_processes(storage: Storage, redis_url: str, tmp_path: Path) -> None:
    with (
        worker(Queue.FAST, redis_url, tmp_path / "fast") as fast,
        worker(Queue.LLM, redis_url, tmp_path / "llm") as llm,
    ):
        await storage.jobs.enqueue(EVALUATE.job())
        await part(storage, "evaluation")
        pool = children(fast.pid)
        assert pool
        for process in (fast, llm):
            process.terminate()
            assert await asyncio.to_thread(process.wait, 15) == 0
        assert alive(pool) == []
    assert b"Traceback" not in (tmp_path / "fast").read_bytes() + (tmp_path / "llm").read_bytes()


async def test_a_killed_worker_leaves_no_process_behind(storage: Storage, redis_url: str, tmp_path: Path) -> None:
    with worker(Queue.FAST, redis_url, tmp_path / "fast") as killed:
        await storage.jobs.enqueue(EVALUATE.job())
        await part(storage, "evaluation")
        pool = children(killed.pid)
        assert pool
        killed.kill()
        await gone(pool)
