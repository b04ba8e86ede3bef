"""One exchange with a callee: the request out, and the answer carried back as it comes, read while it passes."""

import json
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from typing import Any, Final

from starlette.types import Send

from concord.redaction import redact
from concord_gateway.proxy.headers import Header, to_caller
from concord_gateway.proxy.upstream import Answer, Upstream

OnDocument = Callable[[object], None]
"""Told of each JSON document in the answer, after it was passed on."""

Rewrite = Callable[[dict[str, Any]], dict[str, Any]]

MAX_ANSWER_BYTES: Final = 16 * 1024 * 1024
"""The largest answer, or event of a stream, that is carried. A stream as a whole may be as long as it likes."""


class UncarriedAnswerError(Exception):
    """The callee's answer cannot be carried; the message says why."""


class Exchange:
    """Carries one request. Nothing is sent to the caller before the callee has answered."""

    def __init__(self, upstream: Upstream, send: Send) -> None:
        self._upstream = upstream
        self._send = send
        self.begun = False
        """Whether the caller has got a part of the answer, so that no other can be given any more."""

    async def run(
        self,
        url: str,
        headers: Iterable[Header],
        body: bytes,
        on_document: OnDocument,
        rewrite: Rewrite | None = None,
    ) -> str | None:
        """Posts a request, and sends the answer back. Returns why the answer is none of JSON-RPC, None if it may be.

        `rewrite` changes the document of an answer that is no stream. Raises UnreachableError, UncarriedAnswerError.
        """
        async with self._upstream.send("POST", url, headers, body) as answer:
            if answer.header("content-encoding").lower() not in {"", "identity"}:
                raise UncarriedAnswerError("the agent's answer is compressed, which was not asked for")
            if answer.header("content-type").partition(";")[0].strip().lower() == "text/event-stream":
                fault = await self._carry_stream(answer, on_document)
            else:
                fault = await self._carry_whole(answer, on_document, rewrite)
            return fault if 200 <= answer.status < 300 else f"HTTP status {answer.status}"

    async def _carry_stream(self, answer: Answer, on_document: OnDocument) -> str | None:
        await self._begin(answer, to_caller(answer.headers))
        events = _Events()
        async for lines in _whole_lines(answer):
            await self._send({"type": "http.response.body", "body": redact(lines), "more_body": True})
            for document in events.read(lines):
                on_document(document)
        await self._send({"type": "http.response.body", "body": b""})
        return "no answer of A2A: a stream that ended within an event" if events.unfinished else None

    async def _carry_whole(self, answer: Answer, on_document: OnDocument, rewrite: Rewrite | None) -> str | None:
        body = bytearray()
        async for chunk in answer.pieces():
            body += chunk
            if len(body) > MAX_ANSWER_BYTES:
                raise UncarriedAnswerError("the agent's answer is too large")
        document = _parsed(body)
        carried = redact(bytes(body))
        if rewrite is not None and isinstance(document, dict):
            carried = json.dumps(rewrite(document)).encode()
        length = (b"content-length", str(len(carried)).encode())
        await self._begin(answer, [*to_caller(answer.headers), length])
        await self._send({"type": "http.response.body", "body": carried})
        on_document(document)
        if document is None:
            return "no answer of A2A: no JSON" if body.strip() else "no answer of A2A: an empty body"
        return None

    async def _begin(self, answer: Answer, headers: list[Header]) -> None:
        self.begun = True
        # No server can send on what is no status of HTTP (RFC 9110, section 15).
        status = answer.status if answer.status <= 599 else 502
        await self._send({"type": "http.response.start", "status": status, "headers": headers})


class _Events:
    """The JSON in server-sent events, read line by line (HTML standard, section 9.2.6)."""

    def __init__(self) -> None:
        self._data = bytearray()

    @property
    def unfinished(self) -> bool:
        """Whether an event has begun and not ended."""
        return bool(self._data)

    def read(self, lines: bytes) -> Iterator[object]:
        """The documents of the events that end in these lines."""
        for line in lines.splitlines():
            if line.startswith(b"data:") and len(self._data) + len(line) <= MAX_ANSWER_BYTES:
                self._data += line.removeprefix(b"data:") + b"\n"
            elif not line and self._data:
                yield _parsed(self._data)
                self._data.clear()


async def _whole_lines(answer: Answer) -> AsyncIterator[bytes]:
    """The stream as it comes, cut where a line ends, so that nothing that may not pass is passed on in two halves."""
    rest = bytearray()
    async for chunk in answer.pieces():
        end = chunk.rfind(b"\n") + 1
        if end:
            yield bytes(rest) + chunk[:end]
            rest = bytearray(chunk[end:])
        else:
            rest += chunk
        if len(rest) > MAX_ANSWER_BYTES:
            raise UncarriedAnswerError("an event of the agent's answer is too large")
    if rest:
        yield bytes(rest)


def _parsed(body: bytes | bytearray) -> object:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None
