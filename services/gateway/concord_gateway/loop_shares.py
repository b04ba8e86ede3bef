"""Shares of one assessment: of the event loop, and of what its participants may make the gateway keep."""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Generator, Iterator
from contextlib import contextmanager
from contextvars import Context, ContextVar
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

# What the participants of a trial may make the gateway keep. Over its budget, their trial ends, and counts 0.

MAX_ROUND_CHARACTERS: Final = 64 * 1024 * 1024
"""Characters of all messages that arrive in one round of a trial, a message to several seats counted for each."""


class OverBudgetError(Exception):
    """The participants of a trial exceeded its budget; the message says with what."""


# Shares of the event loop: the tasks of one assessment take a slice of each of its passes, however many they are.
#
# The loop runs all that is ready in one pass. Without shares, each step of a small assessment waits until every
# ready task of a large one, such as a hundred calls at once, has made a step.

S = TypeVar("S")
T = TypeVar("T")

SLICE_S: Final = 0.001
"""What the tasks of one assessment take of a pass (seconds). What a step takes beyond it, they go without later."""

_AT_ONCE: Final = 4
"""Waiting steps that a pass lets go: what they take is known when they have ended."""


@dataclass(slots=True)
class LoopShare:
    """The share of one assessment. `clock`: seconds."""

    slice_s: float = SLICE_S
    clock: Callable[[], float] = time.perf_counter
    _used_s: float = 0.0
    """What it used since a pass gave it a slice, with what it took too much before."""
    _waiting: deque[asyncio.Future[None]] = field(default_factory=deque)
    _is_watching: bool = False
    """Whether the next pass gives a new slice, as it does once one is used."""

    async def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine, whose steps wait for their share."""
        result: T = await _InShare(work, self)
        return result

    def step(self, resume: Callable[[S], T], value: S) -> T:
        """Makes a step, and charges its time."""
        began = self.clock()
        try:
            return resume(value)
        finally:
            self._used_s += self.clock() - began
            self._watch()

    def turn(self) -> asyncio.Future[None] | None:
        """What the next step is to wait for; None if it may begin."""
        if self._used_s < self.slice_s and not self._waiting:
            return None
        waiting = asyncio.get_running_loop().create_future()
        self._waiting.append(waiting)
        return waiting

    def _watch(self) -> None:
        if not self._is_watching and (self._used_s >= self.slice_s or self._waiting):
            self._is_watching = True
            asyncio.get_running_loop().call_soon(self._pass)

    def _pass(self) -> None:
        self._is_watching = False
        self._used_s = max(0.0, self._used_s - self.slice_s)
        let_go = 0
        while self._used_s < self.slice_s and self._waiting and let_go < _AT_ONCE:
            first = self._waiting.popleft()
            if not first.done():  # else its task was cancelled
                first.set_result(None)
                let_go += 1
        self._watch()


@dataclass(frozen=True, slots=True)
class _InShare:
    """Awaits a coroutine in the task that awaits this, step by step."""

    work: Coroutine[Any, Any, Any]
    share: LoopShare

    def __await__(self) -> Generator[Any, Any, Any]:
        error: BaseException | None = None
        while True:
            try:
                if (turn := self.share.turn()) is not None:
                    yield from turn
            except asyncio.CancelledError as cancelled:
                error = cancelled
            try:
                if error is None:
                    waits_for = self.share.step(self.work.send, None)
                else:
                    waits_for = self.share.step(self.work.throw, error)
            except StopIteration as ended:
                return ended.value
            error = None
            try:
                yield waits_for
            except GeneratorExit:
                self.work.close()
                raise
            except BaseException as thrown:
                error = thrown


_SHARE: Final[ContextVar[LoopShare | None]] = ContextVar("loop_share", default=None)


def own_share() -> LoopShare:
    """The share that new tasks wait for here; a new one, if they wait for none."""
    return _SHARE.get() or LoopShare()


@contextmanager
def sharing(share: LoopShare) -> Iterator[None]:
    """Tasks that begin in the block, and below it, wait for this share."""
    token = _SHARE.set(share)
    try:
        yield
    finally:
        _SHARE.reset(token)


def new_task(
    loop: asyncio.AbstractEventLoop,
    work: Coroutine[Any, Any, Any] | Generator[Any, None, Any],
    /,
    *,
    context: Context | None = None,
    **options: Any,  # noqa: ANN401 - those of `asyncio.Task`, of which newer Pythons have more
) -> asyncio.Task[Any]:
    """The factory of tasks of an event loop with shares."""
    share = _SHARE.get() if context is None else context.get(_SHARE)
    if share is None or isinstance(work, Generator):
        return asyncio.Task(work, loop=loop, context=context, **options)
    task = asyncio.Task(share.run(work), loop=loop, context=context, **options)
    task.add_done_callback(lambda _: work.close())  # of a task that was cancelled before it began
    return task
