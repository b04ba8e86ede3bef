"""The buffer and the thread that deliver steps to one collector."""

import codecs
import os
import threading
import time
from collections import deque
from dataclasses import dataclass
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final

import httpx

from concord.agent.delivery.backlog import BUFFER_FULL, Backlog, Batch, sender_of
from concord.agent.delivery.outage import Outage
from concord.agent.delivery.post import CollectorAnswer, Reception, post, suppress_instrumentation
from concord.agent.delivery.recorded_step import RecordedStep
from concord.backoff import jittered_s
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment

_FIRST_PAUSE_S: Final = 0.2
_PAUSE_CAP_S: Final = 5.0

_OPENING: Final = threading.Lock()
"""Held while a client is created, which imports modules and loads certificates. A process forked in the middle would
inherit half-imported modules and locked OpenSSL mutexes."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_OPENING.acquire, after_in_parent=_OPENING.release, after_in_child=_OPENING.release)


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """Limits and times of a delivery (bytes of JSON, seconds); see `TraceReporter`."""

    batch_steps: int
    batch_bytes: int
    flush_s: float
    buffer_steps: int
    buffer_bytes: int
    timeout_s: float
    deadline_s: float
    log_every_s: float


@dataclass(slots=True)
class _Attempts:
    """A batch in transit. Its id stays the same on retries, so a second delivery is harmless."""

    batch: Batch
    give_up_at: float
    next_at: float = 0.0
    tries: int = 0


class DeliveryThread:
    """Takes steps from any thread and sends them from its own.

    A lock-free queue connects them. Its items are numbered, so that dropped ones are counted.
    """

    def __init__(self, url: str, policy: DeliveryPolicy) -> None:
        self._url = f"{url.rstrip('/')}/traces"
        self._policy = policy
        self._fresh: deque[tuple[int, InteractionStep | RecordedStep, Assignment]] = deque(maxlen=policy.buffer_steps)
        self._numbers = count()
        self._signals: SimpleQueue[threading.Event | None] = SimpleQueue()
        self._backlog = Backlog(policy.buffer_steps, policy.buffer_bytes)
        self._outage = Outage(url, policy.log_every_s)
        self._under_way: _Attempts | None = None
        self._taken = 0
        self._at_once_after = 0.0
        self._stop_at: float | None = None
        self._thread = threading.Thread(target=self._run, name="concord-reporter", daemon=True)
        self._thread.start()

    @property
    def idle(self) -> bool:
        """Whether no step waits or is in transit."""
        return not (self._fresh or self._backlog or self._under_way)

    @property
    def _waiting(self) -> int:
        """The number of steps that wait or are in transit."""
        return len(self._fresh) + len(self._backlog) + (self._under_way.batch.n_steps if self._under_way else 0)

    def put(self, step: InteractionStep | RecordedStep, assignment: Assignment) -> None:
        """Adds a step; a full queue drops its oldest.

        The first step after a pause is sent at once, so that the assessor knows soon that this agent reports.
        """
        fresh = self._fresh
        fresh.append((next(self._numbers), step, assignment))
        if len(fresh) == self._policy.batch_steps or (len(fresh) == 1 and time.monotonic() >= self._at_once_after):
            self._at_once_after = time.monotonic() + self._policy.flush_s
            self._signals.put(None)

    def flushed(self) -> threading.Event:
        """An event that is set once every step so far was sent or dropped."""
        done = threading.Event()
        self._signals.put(done)
        return done

    def stop(self, deadline: float) -> None:
        """Makes the thread send the remaining steps until a time of the monotonic clock, and stop."""
        self._stop_at = deadline
        self._signals.put(None)

    def join(self, timeout_s: float) -> None:
        """Waits for the thread to end."""
        self._thread.join(timeout_s)

    def _run(self) -> None:
        flushes: list[threading.Event] = []
        with _OPENING:
            suppress_instrumentation()
            client = httpx.Client()
            codecs.lookup("idna")  # the first connection imports it
        with client as http:
            while not self._over():
                self._wait(flushes)
                self._drain()
                while self._due():
                    self._send(http)
                    self._drain()
                if not (self._backlog or self._under_way):
                    while flushes:
                        flushes.pop().set()
            self._tell_drops(http)
        for done in flushes:
            done.set()

    def _over(self) -> bool:
        if self._stop_at is None:
            return False
        return self.idle or time.monotonic() >= self._stop_at

    def _wait(self, flushes: list[threading.Event]) -> None:
        """Sleeps until there is a full batch, a flush request, or the time to flush or retry."""
        pause = self._policy.flush_s
        if self._under_way is not None:
            pause = min(pause, max(0.0, self._under_way.next_at - time.monotonic()))
        try:
            signal = self._signals.get(timeout=pause)
            while True:
                if signal is not None:
                    flushes.append(signal)
                signal = self._signals.get_nowait()
        except Empty:
            return

    def _drain(self) -> None:
        """Moves queued steps to the backlog. A gap in their numbers means that the queue dropped steps.

        Two threads may enqueue in another order than they numbered; a step then counts as lost until the next real
        loss.
        """
        # A bounded number: an agent may add steps faster than they can be serialised, and sending must go on.
        for _ in range(len(self._fresh)):
            number, step, assignment = self._fresh.popleft()
            if (lost := number - self._taken) > 0:
                self._backlog.drop(sender_of(assignment), BUFFER_FULL, lost)
                self._taken = number
            self._taken += 1
            self._backlog.add(assignment, step, self._policy.batch_bytes)

    def _due(self) -> bool:
        if self._stop_at is not None and time.monotonic() >= self._stop_at:
            return False
        if self._under_way is None:
            return bool(self._backlog)
        return time.monotonic() >= self._under_way.next_at

    def _send(self, http: httpx.Client) -> None:
        if self._under_way is None:
            batch = self._backlog.take(self._policy.batch_steps, self._policy.batch_bytes)
            assert batch is not None  # nosec B101  # noqa: S101 - `_due` found the backlog not empty
            self._under_way = _Attempts(batch, time.monotonic() + self._policy.deadline_s)
        attempts = self._under_way
        answer = post(http, self._url, attempts.batch, self._time_left())
        if answer.reception is Reception.TRY_AGAIN:
            if not self._put_off(attempts, answer):
                self._give_up(attempts.batch)
            self._outage.failed(answer.reason, self._waiting, self._backlog.lost)
            return
        self._under_way = None
        self._outage.answered(self._waiting, self._backlog.lost)
        if answer.reception is Reception.REFUSED:
            self._give_up(attempts.batch)
            self._outage.refused(answer.reason, attempts.batch.n_steps)

    def _give_up(self, batch: Batch) -> None:
        self._under_way = None
        self._backlog.give_up(batch)

    def _put_off(self, attempts: _Attempts, answer: CollectorAnswer) -> bool:
        """Schedules the next attempt, with full jitter and not before the requested time. Returns False if there is
        none."""
        attempts.tries += 1
        jitter = jittered_s(attempts.tries, _FIRST_PAUSE_S, _PAUSE_CAP_S)
        attempts.next_at = time.monotonic() + answer.retry_after_s + jitter
        last = attempts.give_up_at if self._stop_at is None else min(attempts.give_up_at, self._stop_at)
        return attempts.next_at <= last

    def _time_left(self) -> float:
        if self._stop_at is None:
            return self._policy.timeout_s
        return min(self._policy.timeout_s, max(0.1, self._stop_at - time.monotonic()))

    def _tell_drops(self, http: httpx.Client) -> None:
        """Reports the remaining dropped steps, with a single attempt."""
        self._drain()
        if self._under_way is not None:
            self._backlog.give_up(self._under_way.batch)
        while (left := self._backlog.take(self._policy.batch_steps, self._policy.batch_bytes)) is not None:
            self._backlog.give_up(left)
        while (batch := self._backlog.take_counts()) is not None:
            if post(http, self._url, batch, self._time_left()).reception is not Reception.TAKEN:
                self._outage.ended(sum(batch.dropped.values()) + self._backlog.unreported)
                return
