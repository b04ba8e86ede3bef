"""The HTTP client under A2A: follows no redirects, and limits the size of answers."""

import ssl
from collections.abc import AsyncIterator
from functools import cache, partial
from typing import Final
from urllib.request import getproxies

import httpx

from concord.a2a.body_values import values_in
from concord.a2a.connections import IDLE_S, MAX_CONNECTIONS, MAX_IDLE, Connections

MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""Limit on one answer, or a whole stream of events."""


class AnswerTooLargeError(ValueError):
    """The response exceeds the limit."""


def http_client(timeout: httpx.Timeout, max_values: int | None = None) -> httpx.AsyncClient:
    """Creates a client for one agent. `max_values`: limit on the JSON values of an answer, or of a stream of events."""
    return httpx.AsyncClient(
        timeout=timeout,
        follow_redirects=False,
        verify=_tls(),
        limits=httpx.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_IDLE, keepalive_expiry=IDLE_S
        ),
        # With a proxy in the environment, httpx chooses between that and its own pool.
        transport=None if getproxies() else Connections(_tls()),
        # The size of a compressed response is not known in advance.
        headers={"accept-encoding": "identity"},
        event_hooks={"response": [partial(_bound, max_values)]},
    )


async def _bound(max_values: int | None, response: httpx.Response) -> None:
    if response.headers.get("content-encoding", "identity").lower() != "identity":
        raise AnswerTooLargeError("the answer is compressed, but no compression was requested")
    declared = response.headers.get("content-length", "")
    if declared.isdecimal() and int(declared) > MAX_ANSWER_BYTES:
        raise AnswerTooLargeError(f"the answer has {declared} bytes, and the limit is {MAX_ANSWER_BYTES}")
    if isinstance(response.stream, httpx.AsyncByteStream):
        response.stream = _Bounded(response.stream, max_values)


class _Bounded(httpx.AsyncByteStream):
    def __init__(self, stream: httpx.AsyncByteStream, max_values: int | None) -> None:
        self._stream = stream
        self._max_values = max_values
        self._values = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = MAX_ANSWER_BYTES
        unfinished = bytearray()
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise AnswerTooLargeError(f"the answer is longer than {MAX_ANSWER_BYTES} bytes")
            if self._max_values is not None:
                unfinished += chunk
                if end := chunk.rfind(b"\n") + 1:
                    end += len(unfinished) - len(chunk)
                    self._count(bytes(unfinished[:end]))
                    del unfinished[:end]
            yield chunk
        self._count(bytes(unfinished))

    def _count(self, text: bytes) -> None:
        if self._max_values is not None:
            self._values += values_in(text)
            if self._values > self._max_values:
                raise AnswerTooLargeError(f"the answer holds more than {self._max_values} values")

    async def aclose(self) -> None:
        await self._stream.aclose()


@cache
def _tls() -> ssl.SSLContext:
    """Shared by all clients: loading the CA certificates takes longer than most calls."""
    return httpx.create_ssl_context()
