"""A flaky environment: some calls of an assistant are refused before they execute, and may be sent again."""

from itertools import count
from typing import Final

import httpx

REFUSED: Final = 3
"""Of so many calls, the last one is refused."""

STATUS: Final = 503
HEADERS: Final = {"retry-after": "0"}
BODY: Final = {"detail": "the environment is busy: nothing was executed, send the call again"}


def is_refused(number: int, path: str) -> bool:
    """Whether a flaky day refuses the call of that number, from 1. MCP has no reply for it, so its calls pass."""
    return number % REFUSED == 0 and not path.lstrip("/").startswith("mcp")


class FlakyCalls:
    """Counts the calls of one assessment."""

    def __init__(self) -> None:
        self._numbers = count(1)

    def refuse(self, path: str) -> bool:
        """Counts a call. Returns whether it is refused."""
        return is_refused(next(self._numbers), path)


class FlakyTransport(httpx.AsyncBaseTransport):
    """Refuses calls of an assistant in this process, which no gateway stands in front of."""

    def __init__(self, transport: httpx.AsyncBaseTransport) -> None:
        """`transport`: sends the calls that are not refused."""
        self._transport = transport
        self._calls = FlakyCalls()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The response, or the refusal."""
        if self._calls.refuse(request.url.path):
            return httpx.Response(STATUS, headers=HEADERS, json=BODY)
        return await self._transport.handle_async_request(request)

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._transport.aclose()
