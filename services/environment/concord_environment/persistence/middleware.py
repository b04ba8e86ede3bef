"""The middleware that has nothing answered before it is kept."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_environment.core.faults import NotKept
from concord_environment.persistence.keeper import Keeper


class KeptBeforeAnswered:
    """Holds an answer back until all that changed while it was worked out is on the disk; 503 if it cannot be.

    GET changes nothing, and never waits.
    """

    def __init__(self, app: ASGIApp, keeper: Keeper) -> None:
        self._app = app
        self._keeper = keeper

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a call on, and its answer back when what it did is kept."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._keeper.failure is not None:
            await _unavailable(self._keeper.failure)(scope, receive, send)
        elif scope["method"] == "GET":
            await self._app(scope, receive, send)
        else:
            await self._held(scope, receive, send)

    async def _held(self, scope: Scope, receive: Receive, send: Send) -> None:
        before, refused = self._keeper.version(), False

        async def when_kept(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and self._keeper.version() != before:
                try:
                    await self._keeper.kept()
                except NotKept as fault:
                    refused = True
                    await _unavailable(str(fault))(scope, receive, send)
            if not refused:
                await send(message)

        await self._app(scope, receive, when_kept)


def _unavailable(why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, 503)
