"""The trace reporter: hands steps to the collector without ever keeping its agent waiting."""

import asyncio
import atexit
import logging
import os
import threading
import time
import weakref
from typing import Final

from concord.agent.assignment import Assignment
from concord.agent.delivery import Lane, LanePolicy
from concord.trace.step import InteractionStep

logger = logging.getLogger(__name__)

_GRACE_S: Final = 1.0
"""How much longer than it was given a lane may take to stop: what is under way is not cut off."""


class TraceReporter:
    """Reports steps fire-and-forget, for as many assessments at once as its agent takes part in.

    `report` appends to a bounded buffer and returns; for each collector, one background thread sends batches and tries
    again. What does not fit is dropped, oldest first, and the next batch of its trace says how much and why. Nothing
    here raises into the agent. Safe to use from any thread, from async code, and after a fork.
    """

    BATCH_STEPS = 100
    """A POST per step costs the agent a hundred times the CPU of a batch of this size."""
    BATCH_BYTES = 1024 * 1024
    """Of JSON, before compression: well below what a collector takes."""
    FLUSH_S = 0.5
    BUFFER_STEPS = 10_000
    BUFFER_BYTES = 16 * 1024 * 1024
    TIMEOUT_S = 5.0
    """For one try."""
    DEADLINE_S = 60.0
    """How long one batch is tried before it counts as dropped."""
    LOG_EVERY_S = 60.0
    """Between two lines that say the same of a collector."""
    MAX_COLLECTORS = 16
    """Whoever sends a message names a collector: so many at once are taken seriously."""

    def __init__(self) -> None:
        self._start_afresh()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_StartAfresh(self))
        atexit.register(self.close)

    def _start_afresh(self) -> None:
        """The state of a new process: the parent's threads did not come along; its buffers are the parent's to send."""
        self._lanes: dict[str | None, Lane] = {}
        self._lock = threading.Lock()
        self._closed = False
        self._told_full_at: float | None = None

    def report(self, step: InteractionStep, assignment: Assignment) -> None:
        """Takes a step made under an assignment. Returns at once; a step without a collector to go to is let go."""
        lane = self._lanes.get(assignment.collector_url)
        if lane is not None or (lane := self._open(assignment.collector_url)) is not None:
            lane.put(step, assignment)

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Waits until everything reported so far was sent or dropped. False: it was not, within the timeout."""
        deadline = time.monotonic() + timeout_s
        waiting = [lane.flushed() for lane in list(self._lanes.values())]
        return all(done.wait(max(0.0, deadline - time.monotonic())) for done in waiting)

    def close(self, timeout_s: float = 5.0) -> None:
        """Sends what is left, for at most `timeout_s`, and stops. Further steps are let go."""
        atexit.unregister(self.close)
        with self._lock:
            self._closed = True
            lanes, self._lanes = list(self._lanes.values()), {}
        deadline = time.monotonic() + timeout_s
        for lane in lanes:
            lane.stop(deadline)
        for lane in lanes:
            lane.join(max(0.0, deadline - time.monotonic()) + _GRACE_S)

    async def aclose(self, timeout_s: float = 5.0) -> None:
        """The same for async code, which goes on meanwhile."""
        await asyncio.to_thread(self.close, timeout_s)

    def _open(self, url: str | None) -> Lane | None:
        """The lane to a collector that was not reported to before; None where there is to be none."""
        if url is None:
            return None
        with self._lock:
            if self._closed:
                return None
            try:
                if url not in self._lanes and self._make_room():
                    self._lanes[url] = Lane(url, self._policy())
            except RuntimeError:  # the interpreter is ending and starts no more threads
                self._closed = True
            return self._lanes.get(url)

    def _make_room(self) -> bool:
        if len(self._lanes) < self.MAX_COLLECTORS:
            return True
        idle = next((url for url, lane in self._lanes.items() if lane.idle), None)
        if idle is None:
            self._tell_full(time.monotonic())
            return False
        self._lanes.pop(idle).stop(time.monotonic() + self.TIMEOUT_S)
        return True

    def _tell_full(self, now: float) -> None:
        if self._told_full_at is None or now - self._told_full_at >= self.LOG_EVERY_S:
            self._told_full_at = now
            logger.warning("no more than %d collectors at once: steps for others are let go", self.MAX_COLLECTORS)

    def _policy(self) -> LanePolicy:
        return LanePolicy(
            batch_steps=self.BATCH_STEPS,
            batch_bytes=self.BATCH_BYTES,
            flush_s=self.FLUSH_S,
            buffer_steps=self.BUFFER_STEPS,
            buffer_bytes=self.BUFFER_BYTES,
            timeout_s=self.TIMEOUT_S,
            deadline_s=self.DEADLINE_S,
            log_every_s=self.LOG_EVERY_S,
        )


class _StartAfresh:
    """Tells a reporter of a fork; the hook cannot be taken back, and must not keep alive what it was made for."""

    def __init__(self, reporter: TraceReporter) -> None:
        self._reporter = weakref.ref(reporter)

    def __call__(self) -> None:
        if (reporter := self._reporter()) is not None:
            reporter._start_afresh()
