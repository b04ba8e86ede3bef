"""Paths of URLs that were joined at a slash too many."""

from starlette.types import ASGIApp, Receive, Scope, Send


class OneLeadingSlash:
    """ASGI middleware: takes `//tasks` for `/tasks`. Clients join an agent's URL, which ends with a slash, and a path.

    It must be the outermost one: the others decide by the path.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        if scope["type"] == "http" and scope["path"].startswith("//"):
            raw = b"/" + scope.get("raw_path", b"").lstrip(b"/")
            scope = {**scope, "path": "/" + scope["path"].lstrip("/"), "raw_path": raw}
        await self._app(scope, receive, send)
