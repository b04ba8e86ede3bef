"""Hostile participants and servers, for these tests and for `make attack`."""

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final
from urllib.parse import quote

import httpx
from fastapi import FastAPI, Request, Response

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import TRACEABILITY_KEY, Assignment
from tests.kit.collectors import batch, step
from tests.kit.leaks import forms
from tests.kit.serving import LOOPBACK, Serve, reserved, served
from tests.kit.stack import rpc

LINK_LOCAL: Final = (
    "http://169.254.169.254/latest/meta-data/",
    "http://[fe80::1]:8000/",
    "http://[::ffff:169.254.169.254]/",
    "http://[fd00:ec2::254]/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://[fd20:ce::254]/",
    "http://[64:ff9b::a9fe:a9fe]/",
    "http://[64:ff9b:1:a9fe:a9:fe00::]/",
    "http://0xa9fea9fe/",
    "http://2852039166/",
)
"""The addresses of cloud providers' metadata services, in several spellings."""

NO_CARD: Final = b"HTTP/1.1 404 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
"""The answer of an agent without a card."""

TOKEN_PLACES: Final = ("authorization", "bare", "x-api-key", "cookie", "basic", "query", "path", "escaped")
"""The places in a request where a token can be; see `token_at`."""


class Spy:
    """A participant that keeps the messages it receives, and answers once `may_end` is set."""

    def __init__(self) -> None:
        self.messages: list[IncomingMessage] = []
        self.was_called = asyncio.Event()
        self.may_end = asyncio.Event()

    async def __call__(self, incoming: IncomingMessage, task: TaskHandle, /) -> None:
        self.messages.append(incoming)
        self.was_called.set()
        await self.may_end.wait()
        await task.complete("something")

    @property
    def assignment(self) -> Assignment:
        found = Assignment.from_metadata(self.messages[0].metadata)
        assert found is not None
        return found

    @property
    def token(self) -> str:
        assert self.assignment.token is not None
        return self.assignment.token.get_secret_value()


class TokenLeaker:
    """A participant that sends its token to everyone, in every form."""

    def __init__(self, *, fails: bool) -> None:
        self.fails = fails
        self.collector = self.gateway = ""
        self.tokens: list[str] = []

    async def __call__(self, incoming: IncomingMessage, task: TaskHandle, /) -> None:
        assignment = Assignment.from_metadata(incoming.metadata)
        assert assignment is not None
        assert assignment.token is not None
        token = assignment.token.get_secret_value()
        self.tokens.append(token)
        if assignment.agent_id == "other":
            await task.complete(" ".join(forms(token).values()))
            return
        for form, leak in forms(token).items():
            await self._report(assignment, token, form, leak)
        leak = " ".join(forms(token).values())
        await task.working(f"soon: {leak}")
        if self.fails:
            await task.fail(f"my token is {leak}")
            return
        own = {"step_id": "in-band", "trace_id": assignment.trace_id, "call_type": "TOOL", "name": leak}
        await task.complete(
            f"something {leak}",
            data={leak: [leak, {"deep": leak}]},
            status=leak,
            artifact_name=leak,
            metadata={TRACEABILITY_KEY: {"trace_id": assignment.trace_id, "steps": [own]}},
        )

    async def _report(self, assignment: Assignment, token: str, form: str, leak: str) -> None:
        leaking_step = step(
            form,
            trace_id=assignment.trace_id,
            call_type="TOOL",
            name=leak,
            error={"message": leak},
            additional_attributes={leak[:250]: leak},
            step_action={"tool_invocation": {"tool_name": leak[:250], "parameters": {leak: leak}}},
        )
        body = batch(leaking_step, trace_id=assignment.trace_id, batch_id=f"{form} {leak}"[:60])
        attributes = [{"key": leak, "value": {"stringValue": leak}}]
        span = {
            "traceId": assignment.trace_id,
            "spanId": "0123456789abcdef",
            "name": leak,
            "attributes": attributes,
            "startTimeUnixNano": "1700000000000000000",
            "endTimeUnixNano": "1700000001000000000",
        }
        spans = {"resourceSpans": [{"scopeSpans": [{"spans": [span]}]}]}
        escaped = json.dumps(body | {"batch_id": f"{form}, escaped"}).replace("/", "\\/")
        async with httpx.AsyncClient(headers={"authorization": f"Bearer {token}"}, timeout=60) as http:
            for response in (
                await http.post(f"{self.collector}/traces", json=body),
                await http.post(
                    f"{self.collector}/traces", content=escaped, headers={"content-type": "application/json"}
                ),
                await http.post(f"{self.collector}/v1/traces", json=spans),
            ):
                assert response.is_success, response.text
            parts = [{"kind": "text", "text": leak}, {"kind": "data", "data": {leak: leak}}]
            paths = {"kind": "message", "role": "user", "messageId": leak, "parts": parts, "metadata": {leak: leak}}
            address = f"{self.gateway}/a2a/{token}/other/"
            assert (await http.post(address, json=rpc("message/send", message=paths))).is_success


def token_at(place: str, token: str) -> tuple[dict[str, str], str]:
    """The headers and the end of the URL of a request with a token in this place."""
    basic = base64.b64encode(f"spy:{token}".encode()).decode()
    headers = {
        "authorization": {"authorization": f"Bearer {token}"},
        "bare": {"authorization": token},
        "x-api-key": {"x-api-key": token},
        "cookie": {"cookie": f"session={token}"},
        "basic": {"authorization": f"Basic {basic}"},
    }
    suffixes = {
        "query": f"?token={token}",
        "path": f"/{token}",
        "escaped": "?" + "".join(f"%{ord(c):02x}" for c in token),
    }
    if place == "path":
        suffixes["path"] = f"?/{quote(quote(token))}"
    return headers.get(place, {}), suffixes.get(place, "")


@asynccontextmanager
async def internal_server(host: str = LOOPBACK) -> AsyncIterator[tuple[str, list[str]]]:
    """A server that is not a participant; yields its URL and the paths that were requested."""
    paths: list[str] = []
    app = FastAPI()

    async def answer(incoming: Request) -> Response:
        paths.append(incoming.url.path)
        return Response("secret")

    app.add_route("/{path:path}", answer, methods=["GET", "POST"])
    async with served(app, reserved(host)) as url:
        yield url, paths


def stalled_answer(begun: bytes, length: int = 9_000_000) -> Serve:
    """Answers each request with the beginning of a body of this length, and never sends the rest."""
    head = f"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
    return fixed_answer(head.encode() + begun, ends=False)


def fixed_answer(answer: bytes, *, card: bytes | None = NO_CARD, ends: bool = True) -> Serve:
    """Answers every call with the same bytes, and requests for the card with `card`, or with a valid card if it is
    None.

    Then it closes the connection. After a call with `ends` false, it waits until the caller closes it.
    """

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(b"GET"):
            writer.write(card_of(head) if card is None else card)
        else:
            with suppress(ConnectionError):
                writer.write(answer)
                await (writer.drain() if ends else reader.read())
        writer.close()

    return serve


def card_of(head: bytes, version: str = "0.3", *, streams: bool = True) -> bytes:
    """An HTTP response with an agent's card in this A2A version's form. The card's URL is the host of the request."""
    host = head.lower().partition(b"\r\nhost:")[2].partition(b"\r\n")[0].strip()
    url = f"http://{host.decode()}/"
    interface: dict[str, dict[str, object]] = {
        "0.3": {"protocolVersion": "0.3.0", "url": url, "preferredTransport": "JSONRPC"},
        "1.0": {"supportedInterfaces": [{"url": url, "protocolBinding": "JSONRPC", "protocolVersion": "1.0"}]},
    }
    card: dict[str, object] = {
        "name": "agent",
        "description": "An agent.",
        "version": "1",
        "capabilities": {"streaming": streams},
        "defaultInputModes": ["text/plain"],
        "defaultOutputModes": ["text/plain"],
        "skills": [],
        **interface[version],
    }
    return answering(json.dumps(card).encode())


def answering(body: bytes, kind: str = "application/json", status: str = "200 OK") -> bytes:
    """An HTTP response after which the connection is closed."""
    head = f"HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    return head.encode() + body
