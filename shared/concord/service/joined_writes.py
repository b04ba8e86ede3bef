"""A transport that sends the head of an answer together with its body."""

import asyncio
from typing import Any


class JoinedWrites:
    """A transport, but that a write waits for the next one, or for the event loop's next turn, and goes out with it.

    uvicorn writes the head and the body of an answer one after the other, and each write is a call of the kernel and a
    packet that wakes the caller. At most one write waits, so that the transport's limits hold.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._waiting = b""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - all that a transport has
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Writes data, or the data that waits and this."""
        if self._waiting:
            self._transport.write(self._waiting + data)
            self._waiting = b""
        elif data:
            self._waiting = data
            self._loop.call_soon(self._flush)

    def close(self) -> None:
        """Writes what waits, and closes."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        waiting, self._waiting = self._waiting, b""
        if waiting and not self._transport.is_closing():  # uvloop raises in a transport that was aborted
            self._transport.write(waiting)
