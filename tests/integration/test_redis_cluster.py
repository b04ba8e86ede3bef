"""Storage on a real Redis Cluster of three nodes, and its job queues on a single Redis beside it."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import redis
from redis.asyncio.cluster import RedisCluster
from redis.commands.core import AsyncScript

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.errors import StorageUnavailableError
from concord.storage import LeftOut, OpenTraceLimits, Quota
from concord.storage.connection import Storage, connect
from concord.task_records import TaskDraft
from concord.wire.roster import RosterEntry
from tests.integration.test_storage import answer, batch
from tests.kit.assessing import PATTERN, QUICK, counting_agent, request, row_of, task_of, tasks
from tests.kit.ports import free_port
from tests.kit.redis_cluster import Cluster
from tests.kit.stack import gateway, workers

RUNNING = TaskDraft("task", "owner", head=b"head", body=b"body", request=b"request", listed_by="owner")


@pytest.fixture(scope="module")
def nodes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster") / "nodes")
    cluster.start()
    yield cluster
    cluster.kill()


@pytest.fixture
def cluster(nodes: Cluster) -> Cluster:
    """A running, empty cluster."""
    nodes.flush()
    return nodes


@pytest.fixture
async def storage(cluster: Cluster, redis_url: str) -> AsyncIterator[Storage]:
    async with connect(cluster.url, redis_url) as opened:
        yield opened


def plan_of(n_trials: int) -> AssessmentPlan:
    config, task_list = AssessmentConfig(num_runs=n_trials), [TaskSpec(id="t", text="Do it.")]
    return AssessmentPlan(
        assessment_id="a1",
        mode=Mode.LIVE,
        config=config,
        tasks=task_list,
        roster=[RosterEntry(id="a", url="http://a")],
        trials=plan_trials(config, task_list),
    )


async def use_all_stores(storage: Storage, plan: AssessmentPlan) -> None:
    """Calls every method of the stores that writes, and reads back what it wrote."""
    await storage.assessments.save_plan(plan)
    await storage.assessments.save("a1", "row", "{}")
    await storage.assessments.save_once("a1", "row", '{"another": 1}')
    assert await storage.assessments.plan("a1") == plan
    assert await storage.assessments.load_all("a1", ["row", "none"]) == ["{}", None]
    await storage.assessments.save_all("a1", {"inputs": "1", "row": "2"})
    assert await storage.assessments.load_all("a1", ["row", "inputs"]) == ["2", "1"]
    assert await storage.traces.left_out([trial.trace_id for trial in plan.trials]) == [
        LeftOut(late={}, refused={}) for _ in plan.trials
    ]
    assert await storage.registry.register("a1", plan.roster) > 0
    assert await storage.registry.agents("a1") == plan.roster
    await storage.answers.put("digest", "answer")
    assert await storage.answers.get("digest") == "answer"
    assert await storage.secrets.token_secret() == await storage.secrets.token_secret()
    for trial in plan.trials:
        sent = batch("b1", trial.trace_id)
        quota = Quota("a", cost=1, limit=10, steps=1, max_steps=10)
        assert await storage.traces.append(sent, answer(), quota=quota) is None
        assert await storage.traces.append(sent, answer(), quota=quota) == answer()
        assert [each async for each in storage.traces.batches(trial.trace_id)] == [sent]
        await storage.traces.close(trial.trace_id)
        assert await storage.traces.is_closed(trial.trace_id)
    await use_open_traces(storage)
    await use_tasks(storage)
    await use_webhooks(storage)
    assert all(count > 0 for count in (await storage.errors()).values())
    await storage.assessments.retire(plan, 100, tokens_s=200)


async def use_open_traces(storage: Storage) -> None:
    limits = OpenTraceLimits(max_traces=1, retention_s=100, max_bytes=1000)
    assert await storage.open_traces.add("o1", "service", n_bytes=10, n_spans=1, limits=limits) == []
    assert await storage.open_traces.add("o2", "service", n_bytes=10, n_spans=1, limits=limits) == ["o1"]
    assert [each.trace_id for each in await storage.open_traces.list()] == ["o2"]


async def use_webhooks(storage: Storage) -> None:
    webhooks = storage.webhooks()
    await webhooks.save("task", "webhook", b"body")
    assert await webhooks.all("task") == [b"body"]
    await webhooks.delete("task", "webhook")


async def use_tasks(storage: Storage) -> None:
    here, there = (storage.tasks(lease_s=60, keep_s=100) for _ in range(2))
    assert await here.begin(b"message", "task") == await there.begin(b"message", "another") == "task"
    assert await here.save(RUNNING, 0) == 1
    assert await here.renew() == []
    await here.release()
    adopted = await there.adopt()
    assert adopted is not None
    assert (adopted.task_id, adopted.starts) == ("task", 1)
    assert await there.heads("owner") == [b"head"]
    assert await there.save(TaskDraft("task", "owner", b"head", b"body", ended=True, listed_by="owner"), 1) == 2
    await there.delete("task")


async def test_each_script_touches_keys_of_one_slot(
    cluster: Cluster, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    registered: set[str] = set()
    run: set[str] = set()

    class Strict(AsyncScript):
        """A script whose header makes the server refuse keys of several slots, even those that are not declared."""

        async def __call__(self, keys: Any = None, args: Any = None, client: Any = None) -> Any:  # noqa: ANN401
            run.add(str(self.script))
            return await super().__call__(keys, args, client)

    def register(self: Any, script: str) -> Strict:  # noqa: ANN401 - redis-py types scripts for a single Redis
        strict = Strict(self, f"#!lua\n{script}")
        registered.add(f"#!lua\n{script}")
        return strict

    monkeypatch.setattr(RedisCluster, "register_script", register)
    async with connect(cluster.url, redis_url) as storage:
        await use_all_stores(storage, plan_of(3))
    assert run == registered
    assert len(run) >= 11


async def test_all_keys_are_found_and_expire_wherever_their_slot_is(cluster: Cluster, storage: Storage) -> None:
    await use_all_stores(storage, plan_of(20))
    found = cluster.keys()
    assert all(found.values()), "traces are on every node"
    for url, names in found.items():
        with redis.Redis.from_url(url) as node:
            assert all(node.ttl(name) > 0 for name in names)


async def test_a_pipeline_over_several_nodes_retires_all_traces(cluster: Cluster, storage: Storage) -> None:
    plan = plan_of(20)
    for trial in plan.trials:
        await storage.traces.append(batch("b1", trial.trace_id), answer())
    await storage.assessments.retire(plan, 50)
    for url, names in cluster.keys().items():
        with redis.Redis.from_url(url) as node:
            assert all(node.ttl(name) <= 50 for name in names)


async def test_more_concurrent_commands_than_connections_all_complete(storage: Storage) -> None:
    await asyncio.gather(*(storage.traces.append(batch(f"b{i}", f"t{i % 7}"), answer()) for i in range(300)))
    assert sum([await storage.traces.length(f"t{i}") for i in range(7)]) == 300


async def test_the_memory_in_use_is_that_of_the_fullest_node(cluster: Cluster, storage: Storage) -> None:
    assert (await storage.memory()).limit is None
    with redis.Redis.from_url(cluster.node_urls[1]) as node:
        node.config_set("maxmemory", 64 * 1024 * 1024)
        node.set(_key_of(node), b"x" * 20_000_000)
        memory = await storage.memory()
        node.config_set("maxmemory", 0)
    assert memory.limit == 64 * 1024 * 1024
    assert memory.used > 20_000_000


@pytest.mark.programs
async def test_commands_wait_for_a_cluster_that_restarts(cluster: Cluster, redis_url: str) -> None:
    names = [f"t{number}" for number in range(30)]
    async with connect(cluster.url, redis_url, retry_s=30) as storage:
        for name in names:
            await storage.traces.append(batch("b1", name), answer())
        cluster.kill()
        # At once, so that every node is lost to a command.
        waiting = asyncio.gather(*(storage.traces.append(batch("b2", name), answer()) for name in names))
        await asyncio.to_thread(cluster.start)
        # A node that kept a batch but was killed before it answered has it already when it is asked again.
        assert all(earlier in (None, answer()) for earlier in await waiting)
        assert [await storage.traces.length(name) for name in names] == [2] * len(names)


async def test_an_absent_cluster_is_reported() -> None:
    async with connect(f"redis+cluster://127.0.0.1:{free_port()}", f"redis://127.0.0.1:{free_port()}") as storage:
        with pytest.raises(StorageUnavailableError):
            await storage.traces.length("t1")
        with pytest.raises(StorageUnavailableError):
            await storage.assessments.retire(plan_of(1), 10)


async def test_storage_refuses_job_queues_in_a_cluster(cluster: Cluster) -> None:
    with pytest.raises(ValueError, match="CONCORD_QUEUE_REDIS_URL"):
        async with connect(cluster.url):
            pass


async def test_assessments_run_on_a_cluster_and_their_jobs_on_the_queues_redis(
    cluster: Cluster, redis_url: str, tmp_path: Path
) -> None:
    async with (
        workers(cluster.url, queue_redis_url=redis_url),
        gateway(cluster.url, tmp_path, queue_redis_url=redis_url, observe=False) as url,
        counting_agent() as agent,
        httpx.AsyncClient(timeout=60) as http,
    ):
        drawn = row_of(await task_of(http, url, request(QUICK | {"interaction_pattern": PATTERN})))
        live = row_of(await task_of(http, url, request(tasks("one", "two"), {"a": agent.url})))
        refused = await task_of(http, url, request(tasks("x"), {"a": _http(cluster.node_urls[1])}))
    assert drawn["detail"]["infrastructure"] == live["detail"]["infrastructure"] == []
    assert drawn["task_rewards"]["graph_density"] == 1
    assert [trial["grading"]["value"] for trial in live["detail"]["trials"]] == [1, 1]
    assert "one of the assessor's own addresses" in str(refused["status"])
    stored = [name for names in cluster.keys().values() for name in names]
    assert any(name.endswith(":reports") for name in stored)
    assert not any(name.startswith("arq:") or ":queue:" in name or ":health:" in name for name in stored)


def _key_of(node: redis.Redis) -> str:
    """A key that this node serves."""
    for number in range(100):
        with suppress(redis.ResponseError):
            node.get(f"key-{number}")
            return f"key-{number}"
    raise AssertionError("none of 100 keys is in a third of the slots")


def _http(url: str) -> str:
    return url.replace("redis://", "http://")
