"""The process's connection to Redis, with a retry time that suits its callers."""

import json
import re
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final, cast
from urllib.parse import urlsplit

from arq.connections import ArqRedis
from redis.asyncio import Redis
from redis.asyncio.connection import parse_url

from concord.assessment import AssessmentPlan
from concord.errors import StorageUnavailableError, UnusableServerError
from concord.storage import (
    QUEUE_IN_CLUSTER,
    AgentRegistry,
    AnswerCache,
    AssessmentStore,
    MemoryUse,
    OpenTraces,
    SecretStore,
    TraceStore,
    is_cluster,
    node_urls,
)
from concord.storage.redis.assessments import RedisAnswerCache, RedisAssessmentStore
from concord.storage.redis.clients import PASSING_FAULTS, TimedCluster, TimedPool, TimedRetry, answered
from concord.storage.redis.clock import RedisClock
from concord.storage.redis.jobs import ArqJobQueue
from concord.storage.redis.registry import RedisAgentRegistry, RedisSecretStore
from concord.storage.redis.tasks import RedisTaskRecords, RedisWebhookRecords
from concord.storage.redis.traces import RedisOpenTraces, RedisTraceStore
from concord.task_records import TaskRecords, WebhookRecords
from concord.trust.redaction import redact
from concord.trust.tokens import Now

REQUEST_RETRY_S: Final = 0.3
"""For services with a waiting caller: bridges a short interruption and reports an outage at once."""

WORK_RETRY_S: Final = 15.0
"""For workers and running assessments: outlasts a Redis restart."""

MAX_CONNECTIONS: Final = 32
"""Connections per process. At the limit, commands wait for a free connection, a millisecond or so."""

_LIMITS: Final[dict[str, Any]] = {
    "max_connections": MAX_CONNECTIONS,
    "turn_s": 20.0,  # how long a command waits for a connection before Redis counts as unavailable
    "socket_connect_timeout": 2.0,
    "socket_timeout": 10.0,  # of an answer
}


@dataclass(frozen=True, slots=True)
class Storage:
    """All state outside the process."""

    traces: TraceStore
    open_traces: OpenTraces
    registry: AgentRegistry
    assessments: AssessmentStore
    answers: AnswerCache
    secrets: SecretStore
    jobs: ArqJobQueue
    now: Now
    """The common time of all processes on the queues' Redis: what one writes and another compares is in it."""
    redis: Redis
    """The client for all data except the jobs; a `TimedCluster` has the same interface."""

    def tasks(self, *, lease_s: int, keep_s: int) -> TaskRecords:
        """The A2A tasks of this process's agent: see `RedisTaskRecords`."""
        return RedisTaskRecords(self.redis, lease_s=lease_s, keep_s=keep_s)

    def webhooks(self) -> WebhookRecords:
        """The webhooks of A2A tasks."""
        return RedisWebhookRecords(self.redis)

    async def ping(self) -> None:
        """Raises StorageUnavailableError unless storage answers."""
        await answered(self.redis.ping())
        await self.jobs.ping()

    async def memory(self) -> MemoryUse:
        """The memory use of the fullest node, and the lowest limit of a node. Raises StorageUnavailableError."""
        nodes = await info_of(self.redis, "memory")
        limits = [limit for each in nodes if (limit := int(each.get("maxmemory", 0)))]
        return MemoryUse(used=max(int(each["used_memory"]) for each in nodes), limit=min(limits, default=None))

    async def share_of(self, plan: AssessmentPlan) -> float | None:
        """The part of the memory limit that an assessment takes (0 to 1), in a cluster as if one node had all of it.

        None without a limit. Raises StorageUnavailableError.
        """
        limit = (await self.memory()).limit
        return None if limit is None else await self.assessments.stored_bytes(plan) / limit

    async def errors(self) -> dict[str, int]:
        """The number of commands that failed since storage started, by kind of error, on all nodes.

        Raises StorageUnavailableError.
        """
        counts: Counter[str] = Counter()
        for node in await info_of(self.redis, "errorstats"):
            counts.update({kind.removeprefix("errorstat_"): int(stat["count"]) for kind, stat in node.items()})
        return dict(counts)


def open_redis(url: str, *, retry_s: float) -> ArqRedis:
    """A client for the Redis at `url` that retries lost connections for `retry_s`. It connects on first use."""
    pool: TimedPool = TimedPool.from_url(
        url,
        health_check_interval=30,
        retry=TimedRetry(retry_s),
        retry_on_error=list(PASSING_FAULTS),
        **_LIMITS,
    )
    redis = ArqRedis(pool)
    redis.auto_close_connection_pool = True
    redis.job_serializer = to_json
    redis.job_deserializer = from_json
    return redis


def open_state(url: str, *, retry_s: float) -> Redis:
    """A client for the Redis or the cluster at `url`, as `open_redis`."""
    if not is_cluster(url):
        return open_redis(url, retry_s=retry_s)
    # Its commands have the same signatures; redis-py types them apart.
    return cast(Redis, TimedCluster(url, retry_s=retry_s, **_LIMITS))


async def info_of(redis: Redis, section: str) -> list[dict[str, Any]]:
    """A section of INFO of each primary node. Raises StorageUnavailableError."""
    if isinstance(redis, TimedCluster):
        found: list[dict[str, Any]] = await answered(redis.info_of_primaries(section))
        return found
    return [await answered(redis.info(section))]


@asynccontextmanager
async def connect(
    url: str, queue_url: str | None = None, *, retry_s: float = REQUEST_RETRY_S
) -> AsyncIterator[Storage]:
    """The storage at a Redis URL, closed at the end. Does not wait for Redis: `Storage.ping` checks that.

    The jobs are at `queue_url`, by default at `url`. Raises ValueError if that is a cluster, which arq cannot use.
    """
    if is_cluster(queue_url or url):
        raise ValueError(QUEUE_IN_CLUSTER)
    redis = open_state(url, retry_s=retry_s)
    queue = redis if queue_url in {None, url} else open_redis(queue_url, retry_s=retry_s)
    now = RedisClock(queue).now
    jobs = ArqJobQueue(cast(ArqRedis, queue))
    try:
        yield Storage(
            traces=RedisTraceStore(redis),
            open_traces=RedisOpenTraces(redis, now),
            registry=RedisAgentRegistry(redis, now),
            assessments=RedisAssessmentStore(redis),
            answers=RedisAnswerCache(redis),
            secrets=RedisSecretStore(redis),
            jobs=jobs,
            now=now,
            redis=redis,
        )
    finally:
        await jobs.ended.aclose()
        await redis.aclose()
        await queue.aclose()


def to_json(value: dict[str, Any]) -> bytes:
    """Serialises an arq job record as JSON. Values without a JSON form, such as exceptions, become their text."""
    return redact(json.dumps(value, default=str).encode())


def from_json(data: bytes) -> dict[str, Any]:
    """Parses the output of `to_json`."""
    record: dict[str, Any] = json.loads(data)
    return record


# Which servers hold the state, and whether they are new enough.

LOWEST: Final = (6, 2)
"""The lowest version of Redis that has every command in use: it is the first with GETEX."""

_FORMS: Final = "redis://HOST:PORT/DATABASE, rediss:// with TLS, unix://PATH or redis+cluster://HOST:PORT,HOST:PORT"


async def servers(url: str, queue_url: str | None = None) -> list[str]:
    """The servers of a stack in words, such as "Redis 7.0.15 at 127.0.0.1:6379": that of the jobs last, if it differs.

    Raises UnusableServerError for one below `LOWEST` and for a URL that is none, StorageUnavailableError.
    """
    named = {"REDIS_URL": url, "CONCORD_QUEUE_REDIS_URL": queue_url or url}
    places = {name: _place(name, each) for name, each in named.items()}
    if is_cluster(named["CONCORD_QUEUE_REDIS_URL"]):
        raise UnusableServerError(QUEUE_IN_CLUSTER)
    if queue_url in {None, url}:
        del named["CONCORD_QUEUE_REDIS_URL"]
    return [await _server(name, each, places[name]) for name, each in named.items()]


async def _server(name: str, url: str, place: str) -> str:
    redis = open_state(url, retry_s=REQUEST_RETRY_S)
    try:
        nodes = await info_of(redis, "server")
    except StorageUnavailableError as error:
        raise StorageUnavailableError(f"no server answers at {name}: {error}") from error
    finally:
        await redis.aclose()
    oldest = min(nodes, key=_version)
    if (version := _version(oldest)) and version < LOWEST:
        raise UnusableServerError(
            f"{name}: {_named(oldest)} at {place} is too old: "
            f"Concord needs Redis {LOWEST[0]}.{LOWEST[1]} or newer, or any Valkey"
        )
    return f"{_named(oldest)} at {place}"


def _place(name: str, url: str) -> str:
    """Where the servers of a URL are, without its credentials. Raises UnusableServerError if it is no URL of Redis."""
    try:
        nodes = node_urls(url)
        for node in nodes:
            parse_url(node)
        if not nodes:
            raise ValueError
        return ", ".join((parts := urlsplit(node)).netloc.rpartition("@")[2] or parts.path for node in nodes)
    except ValueError:  # its text may quote a part of the credentials
        raise UnusableServerError(f"{name} is not a Redis URL: write {_FORMS}") from None


def _version(info: Mapping[str, Any]) -> tuple[int, ...]:
    """The version of Redis whose commands a server has: Valkey, too, says which."""
    return tuple(int(part) for part in re.findall(r"\d+", str(info.get("redis_version", "")))[:2])


def _named(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"
