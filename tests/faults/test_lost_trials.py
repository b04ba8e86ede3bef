"""Trials that a real Redis loses: it is killed while a trial runs, or the trial's own reports fill it."""

import asyncio
import logging
import os
from contextlib import aclosing
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from redis.asyncio import Redis

from concord.a2a import IncomingMessage, TaskHandle
from concord.errors import StorageFullError
from concord.storage.redis.tasks import RedisTaskRecords
from concord.task_records import TaskDraft
from concord.trace.report import StepBatch
from concord.trace.step import CallType, InteractionStep
from concord.wire.assignment import Assignment
from concord.wire.roster import new_step_id
from tests.kit.assessing import counting_agent, tasks
from tests.kit.redis_servers import PrivateServer
from tests.kit.serving import eventually, served_agent
from tests.kit.stack import stack


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A gateway that waits for Redis less long."""
    monkeypatch.setattr("concord_gateway.app.WORK_RETRY_S", 0.3)


def was_lost(caplog: pytest.LogCaptureFixture, trial_id: str) -> bool:
    return any(f"{trial_id} was lost" in record.getMessage() for record in caplog.records)


def causes(row: dict[str, Any]) -> list[tuple[str, int, str, str]]:
    failures = row["detail"]["infrastructure"]
    return [(each["trial_id"], each["attempt"], each["loss"], each["caused_by"]) for each in failures]


async def test_a_trial_during_which_redis_was_killed_is_played_again_once_it_is_back(
    private_redis: PrivateServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "concord_gateway.assessment")
    async with stack(private_redis.url, tmp_path, observe=False) as running, counting_agent() as agent:
        withheld = agent.withhold("two")
        assessed = asyncio.create_task(running.row({"a": agent.url}, **tasks("one", "two")))
        await agent.has_received("two")
        await asyncio.to_thread(private_redis.kill)
        withheld.set()
        await eventually(lambda: was_lost(caplog, "trial-2"))
        await asyncio.to_thread(private_redis.start)
        row = await assessed
    assert agent.received == {"one": 1, "two": 2}
    assert causes(row) == [("trial-2", 1, "storage", "concord")]
    scoring = row["detail"]["scoring"]
    assert (row["score"], scoring["replayed"], scoring["complete"]) == (100, 1, True)


async def test_a_trial_whose_reports_filled_redis_is_forfeited_and_the_others_count(
    private_redis: PrivateServer, tmp_path: Path
) -> None:
    received = []

    async def flood(message: IncomingMessage, task: TaskHandle) -> None:
        received.append(message.text)
        assignment = Assignment.from_metadata(message.metadata)
        if message.text == "two" and assignment is not None:
            await _fill(private_redis, running.collector, assignment)
        await task.complete(message.text)

    async with stack(private_redis.url, tmp_path, observe=False) as running, served_agent(flood) as url:
        row = await running.row({"a": url}, **tasks("one", "two", "three"))
    assert received == ["one", "two", "three"]
    assert causes(row) == [("trial-2", 1, "storage_full", "participants")]
    scoring = row["detail"]["scoring"]
    assert row["score"] == scoring["score_high"] == pytest.approx(100 * 2 / 3)
    assert (scoring["forfeited"], scoring["replayed"], scoring["complete"]) == (1, 0, True)


async def test_a_full_redis_refuses_a_new_task_at_once_and_stores_an_update_once_it_has_room(
    private_redis: PrivateServer,
) -> None:
    async with aclosing(Redis.from_url(private_redis.url)) as client:
        records = RedisTaskRecords(client, lease_s=60, keep_s=60)
        version = await records.save(TaskDraft("begun", "", b"head", b"body", b"request"), 0)
        await client.config_set("maxmemory", 1)
        with pytest.raises(StorageFullError):
            await records.save(TaskDraft("new", "", b"head", b"body", b"request"), 0)
        updated = asyncio.create_task(records.save(TaskDraft("begun", "", b"head", b"more", b"request"), version))
        await asyncio.sleep(0.2)
        assert not updated.done()
        await client.config_set("maxmemory", 0)
        assert await updated == version + 1


async def _fill(server: PrivateServer, collector: str, assignment: Assignment) -> None:
    """Reports steps of random text until they are most of what Redis holds, and leaves it no room for anything else."""
    assert assignment.token is not None
    bearer = f"Bearer {assignment.token.get_secret_value()}"
    headers = {"authorization": bearer, "content-type": "application/json"}
    with redis.Redis.from_url(server.url) as client:
        before = used(client)
        async with httpx.AsyncClient(timeout=60, headers=headers) as http:
            while used(client) < 3 * before:
                texts = {f"text {number}": os.urandom(4_000).hex() for number in range(16)}
                step = InteractionStep(
                    step_id=new_step_id(),
                    trace_id=assignment.trace_id,
                    call_type=CallType.TOOL,
                    additional_attributes=texts,
                )
                batch = StepBatch(trace_id=assignment.trace_id, reporter=assignment.agent_id, steps=[step])
                answer = await http.post(f"{collector}/traces", content=batch.model_dump_json())
                assert answer.json().get("accepted") == 1, answer.text
        client.config_set("maxmemory", used(client) - 1)


def used(client: redis.Redis) -> int:
    return int(client.info("memory")["used_memory"])  # type: ignore[index]  # redis-py types it for its async client too
