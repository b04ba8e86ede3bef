"""A Redis that is killed and started again: clients and workers wait for it and go on."""

import asyncio

from concord.assessment.jobs import Job, Queue
from concord.storage.connection import connect
from tests.integration.test_storage import JobLog, answer, batch, running_worker
from tests.kit.redis_servers import PrivateServer
from tests.kit.serving import eventually


async def test_a_worker_goes_on_after_redis_was_killed_and_restarted(private_redis: PrivateServer) -> None:
    log = JobLog()
    async with connect(private_redis.url, retry_s=15) as storage, running_worker(private_redis.url, log):
        await storage.jobs.enqueue(Job("work", "before", Queue.FAST, {"n": 1}))
        await eventually(lambda: len(log.ran) == 1)
        await asyncio.to_thread(private_redis.kill)
        await asyncio.to_thread(private_redis.start)
        await storage.jobs.enqueue(Job("work", "after", Queue.FAST, {"n": 2}))
        await eventually(lambda: {"n": 2} in log.ran)


async def test_with_retries_a_client_waits_for_redis_on_new_and_open_connections(
    private_redis: PrivateServer,
) -> None:
    await asyncio.to_thread(private_redis.kill)
    async with connect(private_redis.url, retry_s=15) as storage:
        first = asyncio.create_task(storage.ping())
        await asyncio.sleep(0)  # so that it meets no Redis
        await asyncio.to_thread(private_redis.start)
        await first
        await asyncio.to_thread(private_redis.kill)
        appended = [asyncio.create_task(storage.traces.append(batch(f"b{i}"), answer())) for i in range(8)]
        await asyncio.sleep(0)  # so that it meets no Redis
        await asyncio.to_thread(private_redis.start)
        await asyncio.gather(*appended)
        assert await storage.traces.length("t1") == 8
