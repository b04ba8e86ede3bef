"""redis-py's client of a Redis Cluster, with retries for a time, a limit on connections, and hard timeouts."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final, Self, TypeVar

from redis import exceptions
from redis.asyncio.cluster import ClusterNode, ClusterPipeline, RedisCluster
from redis.asyncio.connection import parse_url

from concord.storage.redis.hard_timeout import timed
from concord.storage.redis.retrying import PASSING_FAULTS, TimedRetry
from concord.storage.urls import node_urls

T = TypeVar("T")

# A failover takes the cluster's own timeout (`cluster-node-timeout`, 15 s by default) and a vote.
_PASSING_FAULTS: Final = (
    *PASSING_FAULTS,
    exceptions.ClusterDownError,
    exceptions.SlotNotCoveredError,
    exceptions.TryAgainError,
)


@dataclass(frozen=True, slots=True)
class Limits:
    """A client's limits: concurrent commands, and seconds for retries, for a turn, to connect and for an answer."""

    max_connections: int
    retry_s: float
    turn_s: float
    connect_s: float
    answer_s: float


class TimedCluster(RedisCluster):
    """A client of a Redis Cluster that retries for a time, like the client of a single Redis.

    redis-py retries a number of times, and forgets a node that does not answer. After an outage of all known nodes,
    redis-py would never find the cluster again. This client returns to the nodes of its URL.
    """

    connection_pool: Any
    """Declared by redis-py's protocol of commands; a cluster's client has none."""

    def __init__(self, url: str, limits: Limits) -> None:
        """`url` lists nodes (see `node_urls`). Raises ValueError if it names none."""
        nodes: list[dict[str, Any]] = [dict(parse_url(each)) for each in node_urls(url)]
        if not nodes or any("host" not in node for node in nodes):
            raise ValueError("a cluster's URL names at least one node: redis+cluster://host:port,host:port")
        self._known = [(str(node.pop("host")), int(node.pop("port", 6379))) for node in nodes]
        options = nodes[0]
        options.pop("db", None)
        super().__init__(
            startup_nodes=[ClusterNode(host, port) for host, port in self._known],
            # One attempt, and another one after reading the slots again. This class itself repeats commands for a time.
            cluster_error_retry_attempts=1,
            connection_error_retry_attempts=0,
            socket_connect_timeout=limits.connect_s,
            socket_timeout=limits.answer_s,
            ssl=options.pop("connection_class", None) is not None,
            **options,
        )
        self.connection_kwargs["connection_class"] = timed(self.connection_kwargs["connection_class"])
        self.nodes_manager.startup_nodes.clear()
        self._retry = TimedRetry(limits.retry_s, _PASSING_FAULTS)
        self._turns = asyncio.Semaphore(limits.max_connections)
        self._turn_s = limits.turn_s

    async def initialize(self) -> Self:
        """Reads which node serves which slot. Raises redis's ConnectionError if no known node answers."""
        if self._initialize:
            for host, port in self._known:
                node = ClusterNode(host, port, **self.connection_kwargs)
                self.nodes_manager.startup_nodes.setdefault(node.name, node)
        try:
            await super().initialize()
        except exceptions.RedisClusterException as error:
            raise exceptions.ConnectionError(str(error)) from error
        return self

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        """One command, as redis-py does it. Raises redis's ConnectionError and TimeoutError after the retries."""
        return await self.retried(lambda: super(TimedCluster, self).execute_command(*args, **kwargs))

    def pipeline(self, transaction: bool | None = None, shard_hint: str | None = None) -> "TimedPipeline":  # noqa: ARG002
        """A pipeline: commands that are sent together, by node. Raises RedisClusterException for a transaction."""
        if transaction:
            raise exceptions.RedisClusterException("a transaction of several commands is a script in a cluster")
        return TimedPipeline(self)

    async def info_of_primaries(self, section: str) -> list[dict[str, Any]]:
        """A section of INFO of each node that serves slots."""
        found: dict[str, Any] = await self.execute_command("INFO", section, target_nodes=self.PRIMARIES)
        # The answer of a single node lacks the node's name.
        return list(found.values()) if all(isinstance(each, dict) for each in found.values()) else [found]

    async def retried(self, do: Callable[[], Awaitable[T]]) -> T:
        """The result of `do`, which is repeated after a transient fault. Each attempt waits for its turn."""

        async def once() -> T:
            try:
                async with asyncio.timeout(self._turn_s):
                    await self._turns.acquire()
            except TimeoutError as error:
                raise exceptions.ConnectionError(
                    f"no connection to the cluster was free for {self._turn_s} s"
                ) from error
            try:
                return await do()
            finally:
                self._turns.release()

        return await self._retry.call_with_retry(once, _tell_nobody)


class TimedPipeline(ClusterPipeline):
    """A pipeline, which is repeated as a whole: each command must be harmless to repeat."""

    _client: TimedCluster
    connection_pool: Any
    """See `TimedCluster`."""

    async def execute(self, raise_on_error: bool = True, allow_redirections: bool = True) -> list[Any]:
        """The commands' results, in their order."""
        commands = self._command_stack

        async def once() -> list[Any]:
            self._command_stack = commands
            return await super(TimedPipeline, self).execute(raise_on_error, allow_redirections)

        return await self._client.retried(once)


async def _tell_nobody(_: Exception) -> None:
    """The caller reports the last fault."""
