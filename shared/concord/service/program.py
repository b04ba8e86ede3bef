"""A program of one or several parts: it owns the signals, restarts a part that fails, and lets all drain at once."""

import asyncio
import gc
import logging
import signal
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from time import monotonic
from typing import Any, Final

import structlog

from concord.restarts import Restarts

logger = logging.getLogger(__name__)

Work = Callable[[asyncio.Event], Awaitable[None]]
"""Works until the event is set, then drains and returns."""

YOUNG_OBJECTS: Final = 10_000
"""After how many new objects the garbage collector looks for cycles. A message makes more than its own 700, and it
would look at them while they are in use: it took about a tenth of a gateway's CPU."""


class Parts:
    """The parts of a program, in one event loop. One that raises, or returns before its time, is started again."""

    def __init__(self, *, first_pause_s: float | None = None) -> None:
        """`first_pause_s`: before a part is started again, as in `Restarts`."""
        self._parts: dict[str, Work] = {}
        self._running: set[str] = set()
        self._first_pause_s = first_pause_s

    def add(self, name: str, work: Work) -> None:
        """Adds a part. `name` is in its log lines, as `service`, and in its metrics."""
        self._parts[name] = work

    def up(self) -> dict[str, bool]:
        """Whether each part is running now."""
        return {name: name in self._running for name in self._parts}

    async def run(self, stop: asyncio.Event) -> None:
        """Runs all parts until `stop` is set. If a part keeps failing, stops the others and raises its last error."""
        running = [asyncio.create_task(self._keep_running(name, stop), name=name) for name in self._parts]
        ended = await asyncio.gather(*running, return_exceptions=True)
        for error in filter(None, ended):
            raise error

    async def _keep_running(self, name: str, stop: asyncio.Event) -> None:
        structlog.contextvars.bind_contextvars(service=name)
        restarts = Restarts(first_pause_s=self._first_pause_s)
        while not stop.is_set():
            began = monotonic()
            error = await self._run_once(name, stop)
            if error is None:
                return
            delay_s = restarts.pause_s(monotonic() - began)
            if delay_s is None:
                stop.set()
                raise error
            logger.error("%s failed; starting it again in %g s", name, delay_s, exc_info=error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), delay_s)

    async def _run_once(self, name: str, stop: asyncio.Event) -> Exception | None:
        """Why a part is to be started again; None if it stopped as it should."""
        self._running.add(name)
        try:
            await self._parts[name](stop)
        except Exception as error:
            return error
        finally:
            self._running.discard(name)
        return None if stop.is_set() else RuntimeError(f"{name} ended by itself")


def run_until_signalled(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    """Runs work until SIGTERM or SIGINT sets its event and it has drained. A second signal cancels it.

    Raises whatever the work raises, and SystemExit after a second signal.
    """
    gc.freeze()  # a collection takes a tenth of a second for what the imports made, and finds nothing there
    gc.set_threshold(YOUNG_OBJECTS)
    with asyncio.Runner(loop_factory=_fastest_loop()) as runner:
        runner.run(_until_signalled(work))


def _fastest_loop() -> Callable[[], asyncio.AbstractEventLoop] | None:
    """uvloop's factory of event loops, where it is installed."""
    try:
        import uvloop
    except ImportError:
        return None
    return uvloop.new_event_loop


async def _until_signalled(work: Callable[[asyncio.Event], Coroutine[Any, Any, None]]) -> None:
    stop = asyncio.Event()
    task = asyncio.create_task(work(stop))

    def end() -> None:
        if stop.is_set():
            task.cancel()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, end)
    try:
        await task
    except asyncio.CancelledError:
        raise SystemExit(128 + signal.SIGTERM) from None
