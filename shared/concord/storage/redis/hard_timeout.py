"""Redis connections with a hard timeout.

redis-py sends commands through `asyncio.wait_for`. Up to Python 3.11 that swallows a cancellation that arrives as the
command completes, and the canceller waits for ever. `asyncio.timeout` does not, and needs no extra task.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from redis import exceptions
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection


class _TimedCommands(AbstractConnection):
    """Sends commands like redis-py, without `wait_for`."""

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


def with_hard_timeout(pool: ConnectionPool) -> None:
    """Makes a pool open connections of this kind."""
    pool.connection_class = timed(pool.connection_class)


def timed(connection_class: type[AbstractConnection]) -> type[AbstractConnection]:
    """The class of this kind that replaces one of redis-py's."""
    return _TIMED[connection_class]
