"""`/ues/<place>/…`: forwards assistants' calls to the environment processes, which check the assistants' keys.

The environments listen on the loopback interface only, so one port of the gateway suffices for all of them, also where
assistants run in other containers.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Final

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from concord.plain_http import NO_CERTIFICATES
from concord_gateway.assistants.contexts import AssistantContexts
from concord_gateway.proxy.endpoint import while_connected

ENVIRONMENT_PATH: Final = "/ues"

MAX_RESPONSE_BYTES: Final = 64 * 2**20
"""Limit on one response. A request has the limit of the gateway's other requests."""

MAX_CALLS: Final = 32
"""Calls of one environment that are forwarded at a time."""

_METHODS: Final = ["GET", "POST", "PATCH", "DELETE"]
_TIMEOUT: Final = httpx.Timeout(60, connect=5)
_REQUEST_HEADERS: Final = frozenset(
    {"accept", "authorization", "content-type", "last-event-id", "mcp-protocol-version", "mcp-session-id", "x-api-key"}
)
_RESPONSE_HEADERS: Final = frozenset(
    {b"cache-control", b"content-encoding", b"content-length", b"content-type", b"mcp-session-id", b"www-authenticate"}
)


class EnvironmentProxy:
    """An ASGI app that forwards requests to the environments of contexts."""

    def __init__(self, contexts: AssistantContexts) -> None:
        self._contexts = contexts
        self._under_way: Counter[str] = Counter()
        self._http = httpx.AsyncClient(
            timeout=_TIMEOUT, trust_env=False, verify=NO_CERTIFICATES, limits=httpx.Limits(max_connections=None)
        )

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._http.aclose()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards one request, unless there is no such environment (404), it has too many calls (429), or it is flaky
        (503)."""
        request = Request(scope, receive)
        place = request.path_params["place"]
        base = self._contexts.environment(place)
        if base is None:
            refusal = JSONResponse({"detail": "there is no environment here: the assessment is over"}, 404)
        elif self._under_way[place] >= MAX_CALLS:
            refusal = JSONResponse({"detail": "too many calls at the same time"}, 429, {"retry-after": "1"})
        elif self._contexts.refuses(place, request.path_params["rest"]):
            refusal = _refusal()
        else:
            self._under_way[place] += 1
            try:
                body = await request.body()
                if request.method == "GET" or self._contexts.may_write(place, len(body)):
                    forwarded = self._request(request, base, body)
                    await while_connected(request, asyncio.create_task(self._forward(forwarded, send)))
                    return
                refusal = JSONResponse({"detail": "the assessment's quota of writing calls is used up"}, 429)
            except ClientDisconnect:
                return
            finally:
                self._under_way -= Counter([place])
        await refusal(scope, receive, send)

    async def _forward(self, request: httpx.Request, send: Send) -> None:
        """Sends a request, and passes its response on as it comes. Raises OverflowError for one that is too large."""
        begun, left = False, MAX_RESPONSE_BYTES
        try:
            response = await self._http.send(request, stream=True)
            async with aclosing(response):
                begun = True
                headers = [pair for pair in response.headers.raw if pair[0].lower() in _RESPONSE_HEADERS]
                await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
                async for chunk in response.aiter_raw():
                    left -= len(chunk)
                    if left < 0:
                        raise OverflowError(f"the environment's response exceeds {MAX_RESPONSE_BYTES} bytes")
                    await send({"type": "http.response.body", "body": chunk, "more_body": True})
                await send({"type": "http.response.body", "body": b""})
        except httpx.HTTPError as error:
            if begun:
                raise  # the server then closes the connection, so that the assistant sees that the response is cut
            late = isinstance(error, httpx.TimeoutException)
            detail = "the environment did not respond in time" if late else "the environment cannot be reached"
            await JSONResponse({"detail": detail}, 504 if late else 502)({"type": "http"}, _no_message, send)

    def _request(self, request: Request, base: str, body: bytes) -> httpx.Request:
        path = request.scope["raw_path"].split(b"/", 3)[3] if request.path_params["rest"] else b""
        query = request.scope["query_string"]
        url = httpx.URL(base).copy_with(raw_path=b"/" + path + (b"?" + query if query else b""))
        headers = {name: value for name, value in request.headers.items() if name in _REQUEST_HEADERS}
        return self._http.build_request(request.method, url, headers=headers, content=body)


def _refusal() -> JSONResponse:
    from concord_assistant.environment.flaky import BODY, HEADERS, STATUS  # loaded by the trial that is flaky

    return JSONResponse(BODY, STATUS, HEADERS)


async def _no_message() -> Message:
    return {"type": "http.disconnect"}


@asynccontextmanager
async def environment_routes(contexts: AssistantContexts) -> AsyncIterator[list[Route]]:
    """The routes of the proxy, for as long as it runs."""
    proxy = EnvironmentProxy(contexts)
    try:
        yield [Route(f"{ENVIRONMENT_PATH}/{{place}}/{{rest:path}}", proxy, methods=_METHODS)]
    finally:
        await proxy.aclose()
