"""ASGI middleware that calls an endpoint itself, without the routes and the layers below it."""

from collections.abc import Awaitable, Callable, Mapping

from fastapi import HTTPException, Request, Response
from fastapi.exception_handlers import http_exception_handler
from starlette.types import ASGIApp, Receive, Scope, Send

Endpoint = Callable[[Request], Awaitable[Response]]


class BareEndpoints:
    """Answers requests for endpoints that need nothing but the request. `endpoints`: by method and path."""

    def __init__(self, app: ASGIApp, endpoints: Mapping[tuple[str, str], Endpoint]) -> None:
        self._app = app
        self._endpoints = endpoints

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answers a request, or passes it on to the app."""
        endpoint = self._endpoints.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if endpoint is None:
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await endpoint(request)
        except HTTPException as error:
            response = await http_exception_handler(request, error)
        await response(scope, receive, send)
