"""Redis connections with a hard timeout, which take a command's time for the command.

redis-py sends commands through `asyncio.wait_for`. Up to Python 3.11 that swallows a cancellation that arrives as the
command completes, and the canceller waits for ever. `asyncio.timeout` does not, and needs no extra task. It also limits
what does not wait: four timers for each command, and one more pass of the event loop, cost as much as the command.
"""

import asyncio
from collections.abc import Iterable
from typing import Any, Final

from redis import exceptions
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection
from redis.connection import HiredisRespSerializer
from redis.typing import EncodableT

_HIREDIS: Final = HiredisRespSerializer()


class _TimedCommands(AbstractConnection):
    """Sends commands like redis-py, without `wait_for`, and written by hiredis, as redis-py's synchronous client does.

    redis-py's own writer takes six times as long for a batch of steps.
    """

    def pack_command(self, *args: EncodableT) -> list[bytes]:
        """The command in Redis's protocol. Raises redis's DataError."""
        packed: list[bytes] = _HIREDIS.pack(*args)  # type: ignore[arg-type]  # redis-py annotates a list, and means this
        return packed

    def pack_commands(self, commands: Iterable[Iterable[EncodableT]]) -> list[bytes]:
        """The commands in Redis's protocol, in one piece."""
        return [b"".join(part for command in commands for part in self.pack_command(*command))]

    async def send_packed_command(self, command: bytes | str | Iterable[bytes], check_health: bool = True) -> None:
        """Raises redis's ConnectionError and TimeoutError, and closes the connection if the command was not sent."""
        if not self.is_connected:
            await self.connect()  # type: ignore[no-untyped-call]  # redis-py leaves it so
        elif check_health:
            await self.check_health()  # type: ignore[no-untyped-call]
        if isinstance(command, str):
            command = command.encode()
        try:
            await self._write([command] if isinstance(command, bytes) else command)
        except BaseException as error:
            await self.disconnect(nowait=True)
            if isinstance(error, TimeoutError):
                raise exceptions.TimeoutError("Timeout writing to socket") from error
            if isinstance(error, OSError):
                raise exceptions.ConnectionError(f"Error while writing to socket: {error}") from error
            raise

    async def _write(self, command: Iterable[bytes]) -> None:
        """Waits only for room in the transport's buffer. A lost connection is found when the answer is read.

        Raises TimeoutError, OSError.
        """
        writer = self._writer
        assert writer is not None  # nosec B101  # noqa: S101 - it is connected
        writer.writelines(command)
        _, full = writer.transport.get_write_buffer_limits()
        if writer.transport.get_write_buffer_size() > full:
            async with asyncio.timeout(self.socket_timeout):
                await writer.drain()

    async def read_response(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - as redis-py has it
        """An answer. Raises redis's errors; those of commands in a script as such, whose code Redis 6.2 only quotes."""
        try:
            return await super().read_response(*args, **kwargs)
        except exceptions.ResponseError as error:
            if " -OOM " in str(error):
                raise exceptions.OutOfMemoryError(str(error)) from None
            raise

    async def can_read_destructive(self) -> bool:
        """Whether an answer is left that nobody read. Raises redis's ConnectionError on a connection that was closed.

        redis-py starts to read, and cancels that in the next pass of the event loop.
        """
        answers = getattr(self._parser, "_reader", None)  # those of hiredis
        if self._reader is not None and answers is not None and not answers.has_data():
            arrived = not self._socket_is_empty()  # type: ignore[no-untyped-call]
            if not (arrived or self._reader.at_eof()):
                return False
        unread: bool = await super().can_read_destructive()  # type: ignore[no-untyped-call]
        return unread


class _TimedConnection(_TimedCommands, Connection):
    pass


class _TimedSSLConnection(_TimedCommands, SSLConnection):
    pass


class _TimedUnixConnection(_TimedCommands, UnixDomainSocketConnection):
    pass


_TIMED: Final[dict[type[AbstractConnection], type[AbstractConnection]]] = {
    Connection: _TimedConnection,
    SSLConnection: _TimedSSLConnection,
    UnixDomainSocketConnection: _TimedUnixConnection,
}


class TimedPool(ConnectionPool):
    """A pool of these connections. At the limit, commands wait for a free one, in turn, `turn_s` at most (seconds)."""

    def __init__(self, *, turn_s: float, max_connections: int, **options: Any) -> None:  # noqa: ANN401 - redis-py's
        """`options`: those of redis-py's pools."""
        super().__init__(max_connections=max_connections, **options)
        self.connection_class = timed(self.connection_class)
        self._turn_s = turn_s
        self._turns = asyncio.Semaphore(max_connections)

    async def get_connection(self, *_: object, **__: object) -> AbstractConnection:
        """A connection. Raises redis's ConnectionError if none is free in time."""
        if self._turns.locked():
            try:
                async with asyncio.timeout(self._turn_s):
                    await self._turns.acquire()
            except TimeoutError as error:
                raise exceptions.ConnectionError("No connection available.") from error
        else:
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


def timed(connection_class: type[AbstractConnection]) -> type[AbstractConnection]:
    """The class of this kind that replaces one of redis-py's."""
    return _TIMED[connection_class]
