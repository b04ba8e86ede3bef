"""The calls that jobs make in a process pool."""

import asyncio
from collections.abc import Callable
from typing import ParamSpec, TypeVar, cast

from concord.processes import Calls, ProcessDiedError
from concord.storage import RetryLater

P = ParamSpec("P")
T = TypeVar("T")


class JobCalls:
    """Runs calls so that they outlive a job that stops waiting for them: its next try waits for the running call."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._running: dict[tuple[str, str], asyncio.Task[object]] = {}

    async def run(self, owner: str, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """The result of the function, or of the running call of the same function for the same owner.

        Jobs are idempotent, so a function has the same arguments whenever it is called for a trial. Raises RetryLater
        if the process died, and LimitExceededError.
        """
        key = owner, function.__qualname__
        running = cast("asyncio.Task[T] | None", self._running.get(key))
        if running is None:
            running = asyncio.create_task(self._calls.run(owner, function, *args, **kwargs))
            running.add_done_callback(lambda done: self._forget(key, done))
            self._running[key] = cast("asyncio.Task[object]", running)
        try:
            return await asyncio.shield(running)
        except ProcessDiedError as error:
            raise RetryLater(str(error)) from error

    def _forget(self, key: tuple[str, str], done: asyncio.Task[T]) -> None:
        del self._running[key]
        if not done.cancelled():
            done.exception()  # nobody may be waiting for it
