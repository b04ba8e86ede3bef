"""One exchange with a callee: the request out, and the answer carried back as it comes, read while it passes."""

import json
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import httpx
from starlette.types import Send

from concord.redaction import redact
from concord_gateway.proxy.headers import Header, to_caller

OnDocument = Callable[[object], None]
"""Told of each JSON document in the answer, after it was passed on."""

Rewrite = Callable[[dict[str, Any]], dict[str, Any]]

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""The largest answer, or event of a stream, that is carried. A stream as a whole may be as long as it likes."""


class AnswerTooLargeError(Exception):
    """The callee's answer, or one event of it, is larger than is carried."""


class Exchange:
    """Carries one request. Nothing is sent to the caller before the callee has answered."""

    def __init__(self, http: httpx.AsyncBaseTransport, send: Send) -> None:
        self._http = http
        self._send = send
        self.begun = False
        """Whether the caller has got a part of the answer, so that no other can be given any more."""

    async def run(self, request: httpx.Request, on_document: OnDocument, rewrite: Rewrite | None = None) -> int:
        """Sends the request, and the answer back; returns the answer's status.

        `rewrite` changes the document of an answer that is no stream. Raises httpx.HTTPError, httpx.InvalidURL,
        OSError, AnswerTooLargeError.
        """
        response = await self._http.handle_async_request(request)
        try:
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            if response.headers.get("content-encoding", "identity").lower() != "identity":
                raise httpx.DecodingError("the answer is compressed, which was not asked for")
            if kind == "text/event-stream":
                await self._carry_stream(response, on_document)
            else:
                await self._carry_whole(response, on_document, rewrite)
            return response.status_code
        finally:
            await response.aclose()

    async def _carry_stream(self, response: httpx.Response, on_document: OnDocument) -> None:
        await self._begin(response, to_caller(response.headers.raw))
        events = _Events()
        async for lines in _whole_lines(response):
            await self._send({"type": "http.response.body", "body": redact(lines), "more_body": True})
            for document in events.read(lines):
                on_document(document)
        await self._send({"type": "http.response.body", "body": b""})

    async def _carry_whole(self, response: httpx.Response, on_document: OnDocument, rewrite: Rewrite | None) -> None:
        body = bytearray()
        async for chunk in response.aiter_raw():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise AnswerTooLargeError("the answer is too large")
        document = _parsed(body)
        carried = redact(bytes(body))
        if rewrite is not None and isinstance(document, dict):
            carried = json.dumps(rewrite(document)).encode()
        length = (b"content-length", str(len(carried)).encode())
        await self._begin(response, [*to_caller(response.headers.raw), length])
        await self._send({"type": "http.response.body", "body": carried})
        on_document(document)

    async def _begin(self, response: httpx.Response, headers: list[Header]) -> None:
        self.begun = True
        await self._send({"type": "http.response.start", "status": response.status_code, "headers": headers})


class _Events:
    """The JSON in server-sent events, read line by line (HTML standard, section 9.2.6)."""

    def __init__(self) -> None:
        self._data = bytearray()

    def read(self, lines: bytes) -> Iterator[object]:
        """The documents of the events that end in these lines."""
        for line in lines.splitlines():
            if line.startswith(b"data:") and len(self._data) + len(line) <= MAX_ANSWER_BYTES:
                self._data += line.removeprefix(b"data:") + b"\n"
            elif not line and self._data:
                yield _parsed(self._data)
                self._data.clear()


async def _whole_lines(response: httpx.Response) -> AsyncIterator[bytes]:
    """The stream as it comes, cut where a line ends, so that nothing that may not pass is passed on in two halves."""
    rest = bytearray()
    async for chunk in response.aiter_raw():
        end = chunk.rfind(b"\n") + 1
        if end:
            yield bytes(rest) + chunk[:end]
            rest = bytearray(chunk[end:])
        else:
            rest += chunk
        if len(rest) > MAX_ANSWER_BYTES:
            raise AnswerTooLargeError("an event of the answer is too large")
    if rest:
        yield bytes(rest)


def _parsed(body: bytes | bytearray) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
