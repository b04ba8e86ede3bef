"""The middleware that commits changes before it sends responses."""

from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord_environment.core.faults import NotCommitted
from concord_environment.persistence.writer import JournalWriter


class CommitBeforeResponse:
    """Holds a response back until every change made during the call is on the disk. Responds 503 if a write fails.

    A GET changes nothing and does not wait.
    """

    def __init__(self, app: ASGIApp, writer: JournalWriter) -> None:
        self._app = app
        self._writer = writer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forwards a call and commits its changes before the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
        elif self._writer.failure is not None:
            await _unavailable(self._writer.failure)(scope, receive, send)
        elif scope["method"] == "GET":
            await self._app(scope, receive, send)
        else:
            await self._call_and_commit(scope, receive, send)

    async def _call_and_commit(self, scope: Scope, receive: Receive, send: Send) -> None:
        before, refused = self._writer.version(), False

        async def send_after_commit(message: Message) -> None:
            nonlocal refused
            if message["type"] == "http.response.start" and self._writer.version() != before:
                try:
                    await self._writer.commit()
                except NotCommitted as fault:
                    refused = True
                    await _unavailable(str(fault))(scope, receive, send)
            if not refused:
                await send(message)

        await self._app(scope, receive, send_after_commit)


def _unavailable(why: str) -> JSONResponse:
    return JSONResponse({"detail": why}, 503)
