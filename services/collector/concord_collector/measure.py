"""Measuring: how long reports take and how they are answered, from outside, so that no refusal is left out."""

import time
from typing import Final

from concord.service.limits import App, Message, Receive, Scope, Send
from concord_collector.instruments import Instruments

_MEASURED: Final = frozenset({"/traces", "/v1/traces"})


class Measure:
    """ASGI middleware that counts answers to reports by status, and their time."""

    def __init__(self, app: App, instruments: Instruments) -> None:
        self._app = app
        self._instruments = instruments

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Passes a request on."""
        if scope["type"] != "http" or scope["path"] not in _MEASURED:
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()

        async def count(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._instruments.seconds.observe(time.perf_counter() - started)
                self._instruments.batches.labels(status=message["status"]).inc()
            await send(message)

        await self._app(scope, receive, count)
