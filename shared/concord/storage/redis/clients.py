"""Clients of Redis and Redis Cluster: hard timeouts, retries for a time, and one error for all faults."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, Literal, Self, TypeVar

from redis import exceptions
from redis.asyncio import ConnectionPool, Redis
from redis.asyncio.cluster import ClusterNode, ClusterPipeline, RedisCluster
from redis.asyncio.connection import AbstractConnection, parse_url
from redis.asyncio.retry import Retry
from redis.backoff import FullJitterBackoff
from redis.exceptions import OutOfMemoryError, RedisError, SlotNotCoveredError

from concord.errors import StorageFullError, StorageUnavailableError
from concord.storage import node_urls

# Redis faults become StorageUnavailableError.


@contextmanager
def storage_faults() -> Iterator[None]:
    """Raises StorageUnavailableError for any Redis or network error in the block, StorageFullError without memory."""
    try:
        yield
    except OutOfMemoryError as error:
        raise StorageFullError(f"{type(error).__name__}: {error}") from error
    except (RedisError, SlotNotCoveredError, OSError) as error:
        raise StorageUnavailableError(f"{type(error).__name__}: {error}") from error


async def answered(command: Any) -> Any:  # noqa: ANN401 - redis-py annotates text where bytes come
    """The answer to a command. Raises as `storage_faults`."""
    with storage_faults():
        return await command


def script(redis: Redis, text: str) -> Callable[[Sequence[str], Sequence[str | bytes | int]], Awaitable[Any]]:
    """A Lua script, to be called with its keys and arguments. Raises as `storage_faults`."""
    registered = redis.register_script(text)
    return lambda keys, arguments: answered(registered(keys, arguments))


SAVE_FIELDS: Final = """
redis.call('HSET', KEYS[1], unpack(ARGV, 2))
redis.call('EXPIRE', KEYS[1], ARGV[1])
"""
"""Sets fields of a hash, which then expires: seconds, then names and values. The client of a Redis Cluster has no
transactions, hence a script."""


# Connections with a hard timeout, and a pool in which commands take turns.


class _TimedCommands(AbstractConnection):
    """Sends commands like redis-py, but within `asyncio.timeout`.

    redis-py uses `asyncio.wait_for`. Up to Python 3.11 that swallows a cancellation that arrives as the command
    completes, and the canceller waits for ever.
    """

    async def send_packed_command(self, command: bytes | str | Iterable[bytes], check_health: bool = True) -> None:
        """Raises redis's ConnectionError and TimeoutError, and closes the connection if the command was not sent."""
        if not self.is_connected:
            await self.connect()  # type: ignore[no-untyped-call]  # redis-py leaves it so
        elif check_health:
            await self.check_health()  # type: ignore[no-untyped-call]
        if isinstance(command, str):
            command = command.encode()
        try:
            async with asyncio.timeout(self.socket_timeout):
                await self._send_packed_command([command] if isinstance(command, bytes) else command)
        except BaseException as error:
            await self.disconnect(nowait=True)
            if isinstance(error, TimeoutError):
                raise exceptions.TimeoutError("Timeout writing to socket") from error
            if isinstance(error, OSError):
                raise exceptions.ConnectionError(f"Error while writing to socket: {error}") from error
            raise

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        """An answer. Raises redis's errors; those of commands in a script as such, whose code Redis 6.2 only quotes."""
        try:
            return await super().read_response(*args, **kwargs)
        except exceptions.ResponseError as error:
            if " -OOM " in str(error):
                raise exceptions.OutOfMemoryError(str(error)) from None
            raise


def timed(connection_class: type[AbstractConnection]) -> type[AbstractConnection]:
    """The class of this kind that replaces one of redis-py's."""
    return type(f"Timed{connection_class.__name__}", (_TimedCommands, connection_class), {})


class _ConnectionTurns(asyncio.Semaphore):
    """Lets so many callers in at a time, in turn. Each waits `turn_s` at most (seconds)."""

    def __init__(self, callers: int, turn_s: float) -> None:
        super().__init__(callers)
        self._turn_s = turn_s

    async def acquire(self) -> Literal[True]:
        """Raises redis's ConnectionError without a turn in time."""
        try:
            async with asyncio.timeout(self._turn_s):
                return await super().acquire()
        except TimeoutError as error:
            raise exceptions.ConnectionError(f"no connection was free for {self._turn_s} s") from error


class TimedPool(ConnectionPool):
    """A pool of these connections. At the limit, commands wait for a free one, in turn, `turn_s` at most (seconds).

    redis-py's pool that waits loses a connection if a command is cancelled while it gives its own back.
    """

    def __init__(self, *, turn_s: float, max_connections: int, **options: Any) -> None:  # noqa: ANN401 - redis-py's
        """`options`: those of redis-py's pools."""
        super().__init__(max_connections=max_connections, **options)
        self.connection_class = timed(self.connection_class)
        self._turns = _ConnectionTurns(max_connections, turn_s)

    async def get_connection(self, *_: object, **__: object) -> AbstractConnection:
        """A connection. Raises redis's ConnectionError if none is free in time."""
        await self._turns.acquire()
        connection: AbstractConnection = self.get_available_connection()  # type: ignore[no-untyped-call]
        try:
            await self.ensure_connection(connection)
        except BaseException:
            await self.release(connection)
            raise
        return connection

    async def release(self, connection: AbstractConnection) -> None:
        """Takes a connection back."""
        try:
            await super().release(connection)
        finally:
            self._turns.release()


# Retries Redis commands for a time rather than a number of attempts.

T = TypeVar("T")

_BACKOFF_S: Final = 0.05
_BACKOFF_CAP_S: Final = 1.0

# redis-py reports a refused connection as OSError while it connects, and converts it too late for its own retries.
PASSING_FAULTS: Final = (exceptions.ConnectionError, exceptions.TimeoutError, exceptions.BusyLoadingError, OSError)


class TimedRetry(Retry):
    """Retries transient faults with full jitter for `retry_s`.

    redis-py nests the retries of connecting in those of a command, so the total can be twice that.
    """

    def __init__(self, retry_s: float, faults: tuple[type[Exception], ...] = PASSING_FAULTS) -> None:
        backoff = FullJitterBackoff(cap=_BACKOFF_CAP_S, base=_BACKOFF_S)
        super().__init__(backoff, -1, faults)  # type: ignore[arg-type]  # it takes any exceptions
        self._retry_s = retry_s

    async def call_with_retry(self, do: Callable[[], Awaitable[T]], fail: Callable[[exceptions.RedisError], Any]) -> T:
        """The result of `do`. `fail` is called with each fault and may raise."""
        deadline = time.monotonic() + self._retry_s
        failures = 0
        while True:
            try:
                return await do()
            except self._supported_errors as error:
                failures += 1
                await fail(error)
                pause = self._backoff.compute(failures)
                if time.monotonic() + pause > deadline:
                    raise
                await asyncio.sleep(pause)


# redis-py's client of a Redis Cluster, with retries for a time, a limit on connections, and hard timeouts.

# A failover takes the cluster's own timeout (`cluster-node-timeout`, 15 s by default) and a vote.
_PASSING_FAULTS: Final = (
    *PASSING_FAULTS,
    exceptions.ClusterDownError,
    exceptions.SlotNotCoveredError,
    exceptions.TryAgainError,
)


class TimedCluster(RedisCluster):
    """A client of a Redis Cluster that retries for a time, like the client of a single Redis.

    redis-py retries a number of times, and forgets a node that does not answer. After an outage of all known nodes,
    redis-py would never find the cluster again. This client returns to the nodes of its URL.
    """

    connection_pool: Any
    """Declared by redis-py's protocol of commands; a cluster's client has none."""

    def __init__(self, url: str, *, retry_s: float, turn_s: float, max_connections: int, **limits: float) -> None:
        """`url` lists nodes (see `node_urls`); `limits`: redis-py's timeouts. Raises ValueError if it names none."""
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
            ssl=options.pop("connection_class", None) is not None,
            **options | limits,
        )
        self.connection_kwargs["connection_class"] = timed(self.connection_kwargs["connection_class"])
        self.nodes_manager.startup_nodes.clear()
        self._retry = TimedRetry(retry_s, _PASSING_FAULTS)
        self._turns = _ConnectionTurns(max_connections, turn_s)

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
            async with self._turns:
                return await do()

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
