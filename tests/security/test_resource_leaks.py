"""Resources: ended assessments leave no object, file descriptor, key or file that accumulates."""

import asyncio
import gc
from collections import Counter
from pathlib import Path

import httpx
import redis

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment.jobs import Job, Queue
from concord.storage.connection import connect
from tests.kit.assessing import PATTERN, request, task_of
from tests.kit.serving import eventually, served_agent
from tests.kit.stack import workers
from tests.security.test_waiting import gateway

WATCHED = {"ActiveTask", "TaskManager", "RunningAssessment", "AssessmentPlan", "Messenger", "A2AClient", "TrialCalls"}
ROUNDS, AT_ONCE = 2, 5


async def echo(message: IncomingMessage, task: TaskHandle) -> None:
    await task.complete(message.text)


async def settle() -> None:
    """Gives work that goes on after an answer the time to end."""
    for _ in range(20):
        await asyncio.sleep(0.02)


def live_objects() -> dict[str, int]:
    """The number of live objects of each class in `WATCHED`, and of the event loop's tasks."""
    gc.collect()
    counts = Counter(type(each).__name__ for each in gc.get_objects() if type(each).__name__ in WATCHED)
    return {**dict.fromkeys(WATCHED, 0), **counts, "tasks of the loop": len(asyncio.all_tasks())}


def descriptors() -> int:
    return len(list(Path("/proc/self/fd").iterdir()))


async def run_assessments(http: httpx.AsyncClient, url: str, *agents: str) -> None:
    """Runs `AT_ONCE` assessments at once, one of them with a live team and one that is rejected."""
    team = dict(zip(("one", "two"), agents, strict=True))
    asked = [
        request({"task": "echo", "quiet_s": 0, "closing_cap_s": 0.1}, team),
        request({"task": "echo", "num_runs": 100, "trial_timeout_s": 300, "timeout_s": 1}, team),
        *(request({"interaction_pattern": PATTERN}) for _ in range(AT_ONCE - 2)),
    ]
    tasks = await asyncio.gather(*(task_of(http, url, each) for each in asked))
    states = Counter(task["status"]["state"] for task in tasks)
    assert states == {"completed": AT_ONCE - 1, "rejected": 1}


async def test_objects_descriptors_and_files_of_the_gateway_do_not_grow_with_ended_assessments(
    redis_url: str, tmp_path: Path
) -> None:
    async with (
        workers(redis_url),
        served_agent(echo) as one,
        served_agent(echo) as two,
        gateway(redis_url, tmp_path, keep_assessments=10) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        for _ in range(2):
            await run_assessments(http, url, one, two)
        await settle()
        before = descriptors(), live_objects()
        for _ in range(ROUNDS):
            await run_assessments(http, url, one, two)
        # Work that goes on after an answer may take some time on a busy machine.
        await eventually(lambda: descriptors() <= before[0] and live_objects() == before[1], timeout_s=60)
    assert len(list((tmp_path / "assessments").glob("*.json"))) == 10


async def test_every_key_of_an_assessment_expires(redis_url: str, tmp_path: Path) -> None:
    async with (
        workers(redis_url),
        served_agent(echo) as one,
        served_agent(echo) as two,
        gateway(redis_url, tmp_path, keep_s=600) as url,
        httpx.AsyncClient(timeout=60) as http,
    ):
        await run_assessments(http, url, one, two)
    async with connect(redis_url) as storage:
        await storage.jobs.bury(Job("evaluate_trial", "lost", Queue.FAST, {}), "it failed")
    with redis.Redis.from_url(redis_url) as client:
        ttls = {key.decode(): client.ttl(key) for key in client.scan_iter()}
    assert [key for key, ttl in ttls.items() if ttl < 0] == []
    kept = [ttl for key, ttl in ttls.items() if any(part in key for part in (":assessment:", ":reports", ":agents:"))]
    assert len(kept) > AT_ONCE
    assert max(kept) <= 600
    closed = [ttl for key, ttl in ttls.items() if key.endswith(":closing")]
    assert max(closed) < 1000  # as long as tokens are valid
