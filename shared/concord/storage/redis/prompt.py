"""Connections to Redis that end when they are told to.

redis-py sends each command through `asyncio.wait_for`, which up to Python 3.11 keeps a cancellation for itself that
comes just as the command is out: whoever cancelled a task then waits for it, perhaps for ever. `asyncio.timeout` does
not, and costs no task for each command.
"""

import asyncio
from collections.abc import Iterable
from typing import Final

from redis import exceptions
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection, Connection, SSLConnection, UnixDomainSocketConnection


class _Prompt(AbstractConnection):
    """Sends as redis-py does, but for `wait_for`."""

    async def send_packed_command(self, command: bytes | str | Iterable[bytes], check_health: bool = True) -> None:
        """Raises redis's ConnectionError and TimeoutError; the connection is closed whenever a command is not out."""
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


class _PromptConnection(_Prompt, Connection):
    pass


class _PromptSSLConnection(_Prompt, SSLConnection):
    pass


class _PromptUnixConnection(_Prompt, UnixDomainSocketConnection):
    pass


_PROMPT: Final[dict[type[AbstractConnection], type[AbstractConnection]]] = {
    Connection: _PromptConnection,
    SSLConnection: _PromptSSLConnection,
    UnixDomainSocketConnection: _PromptUnixConnection,
}


def make_prompt(pool: ConnectionPool) -> None:
    """Has a pool open connections of this kind from now on."""
    pool.connection_class = _PROMPT[pool.connection_class]
