"""Delivery of steps to collectors: one thread each, so that a slow collector does not delay the others."""

import codecs
import json
import logging
import os
import threading
import time
import zlib
from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, auto
from itertools import count
from queue import Empty, SimpleQueue
from typing import Final, NamedTuple
from uuid import uuid4

import httpx

from concord.restarts import jittered_s
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord.wire.roster import normalise_url

# Logging of collector outages: few lines, however many steps are affected.

logger = logging.getLogger(__name__)


class Outage:
    """Logs when a collector becomes unavailable and when it is back, and at most every `every_s` seconds in between."""

    def __init__(self, url: str, every_s: float, now: Callable[[], float] = time.monotonic) -> None:
        self._address = normalise_url(url)
        self._every_s = every_s
        self._now = now
        self._told_at: float | None = None
        self._is_told = False
        self._dropped_before = 0
        """When the collector last answered."""
        self._refused = 0
        self._told_refusal_at: float | None = None

    def failed(self, reason: str, waiting: int, dropped: int) -> None:
        """Records a failed attempt. `waiting` steps are kept for a retry; `dropped` counts all dropped steps."""
        if self._is_due(self._told_at):
            accepts = "still accepts" if self._is_told else "accepts"
            self._told_at, self._is_told = self._now(), True
            lost = dropped - self._dropped_before
            logger.warning(
                "the collector at %s %s no steps: %s; %d steps waiting, %d dropped",
                self._address, accepts, reason, waiting, lost,
            )  # fmt: skip

    def answered(self, waiting: int, dropped: int) -> None:
        """Records an answer, positive or negative."""
        if self._is_told:
            lost = dropped - self._dropped_before
            logger.warning(
                "the collector at %s accepts steps again; %d steps waiting, %d dropped", self._address, waiting, lost
            )
        self._is_told, self._dropped_before = False, dropped

    def refused(self, reason: str, steps: int) -> None:
        """Records that a batch of so many steps was refused for good."""
        self._refused += steps
        if self._is_due(self._told_refusal_at):
            self._told_refusal_at = self._now()
            logger.warning("the collector at %s refused %d steps: %s", self._address, self._refused, reason)
            self._refused = 0

    def ended(self, unreported: int) -> None:
        """Records the end, with so many dropped steps unreported."""
        logger.warning("dropped %d steps, which the collector at %s does not know of", unreported, self._address)

    def _is_due(self, told_at: float | None) -> bool:
        return told_at is None or self._now() - told_at >= self._every_s


# The backlog: serialised steps that wait to be sent, with limits on their number and size.

_MAX_COUNTED: Final = 1000
"""The number of traces whose dropped steps are counted."""

BUFFER_FULL: Final = "buffer_full"
TOO_LARGE: Final = "too_large"
UNDELIVERED: Final = "undelivered"
UNWRITABLE: Final = "unwritable"


class StepSender(NamedTuple):
    """The common properties of a batch's steps: their trace and their reporter."""

    trace_id: str
    reporter: str
    token: str | None


def sender_of(assignment: Assignment) -> StepSender:
    """The sender of the steps made under an assignment."""
    token = None if assignment.token is None else assignment.token.get_secret_value()
    return StepSender(assignment.trace_id, assignment.agent_id, token)


@dataclass(frozen=True, slots=True)
class Batch:
    """A serialised batch: JSON, the number of steps, and the steps dropped before it."""

    sender: StepSender
    body: bytes
    n_steps: int
    dropped: Mapping[str, int]


@dataclass(slots=True)
class Backlog:
    """Steps for one collector, oldest first. At its limits, drops and counts the oldest.

    `lost` counts all dropped steps, reported to the collector or not.
    """

    max_steps: int
    max_bytes: int
    lost: int = 0
    _waiting: deque[tuple[StepSender, bytes]] = field(default_factory=deque)
    _bytes: int = 0
    _dropped: dict[StepSender, Counter[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def unreported(self) -> int:
        """Dropped steps that are not yet reported to the collector."""
        return sum(counts.total() for counts in self._dropped.values())

    def add(self, assignment: Assignment, step: InteractionStep | None, max_step_bytes: int) -> None:
        """Adds a step made under an assignment; None counts one that could not be made."""
        sender = sender_of(assignment)
        try:
            written = b"" if step is None else step.model_dump_json(exclude_none=True).encode()
        except ValueError:  # for example, a text with lone surrogates
            written = b""
        if not written:
            self.drop(sender, UNWRITABLE)
            return
        if len(written) > max_step_bytes:
            self.drop(sender, TOO_LARGE)
            return
        self._waiting.append((sender, written))
        self._bytes += len(written)
        while len(self._waiting) > self.max_steps or self._bytes > self.max_bytes:
            oldest, lost = self._waiting.popleft()
            self._bytes -= len(lost)
            self.drop(oldest, BUFFER_FULL)

    def drop(self, sender: StepSender, reason: str, steps: int = 1) -> None:
        """Counts dropped steps, for the sender's next batch."""
        self.lost += steps
        self._count_dropped(sender, reason, steps)

    def _count_dropped(self, sender: StepSender, reason: str, steps: int) -> None:
        if sender not in self._dropped and len(self._dropped) >= _MAX_COUNTED:
            del self._dropped[next(iter(self._dropped))]
        self._dropped.setdefault(sender, Counter())[reason] += steps

    def take(self, max_steps: int, max_bytes: int) -> Batch | None:
        """The next batch, of the sender that has waited longest; None if the backlog is empty."""
        if not self._waiting:
            return None
        sender = self._waiting[0][0]
        chosen: list[bytes] = []
        others: list[tuple[StepSender, bytes]] = []
        size = 0
        while self._waiting and len(chosen) < max_steps and size + len(self._waiting[0][1]) <= max_bytes:
            entry = self._waiting.popleft()
            if entry[0] == sender:
                chosen.append(entry[1])
                size += len(entry[1])
            else:
                others.append(entry)
        self._waiting.extendleft(reversed(others))
        self._bytes -= size
        return self._batch(sender, chosen)

    def take_counts(self) -> Batch | None:
        """A batch without steps that only reports dropped ones, None if there are none."""
        sender = next(iter(self._dropped), None)
        return None if sender is None else self._batch(sender, [])

    def give_up(self, batch: Batch) -> None:
        """Counts an undeliverable batch: its steps, and the dropped ones that it would have reported."""
        for reason, steps in batch.dropped.items():
            self._count_dropped(batch.sender, reason, steps)
        if batch.n_steps:
            self.drop(batch.sender, UNDELIVERED, batch.n_steps)

    def _batch(self, sender: StepSender, steps: list[bytes]) -> Batch:
        dropped = dict(self._dropped.pop(sender, {}))
        head = {"batch_id": uuid4().hex, "trace_id": sender.trace_id, "reporter": sender.reporter, "dropped": dropped}
        body = json.dumps(head).encode()[:-1] + b', "steps": [' + b",".join(steps) + b"]}"
        return Batch(sender, body, len(steps), dropped)


# One attempt to send a batch, and its outcome.

_TRY_AGAIN: Final = frozenset({429, 502, 503, 504})
_MAX_RETRY_AFTER_S: Final = 30.0
_GZIP: Final = 31
"""zlib's window bits for a gzip header."""


class Reception(Enum):
    """What became of a batch."""

    TAKEN = auto()
    REFUSED = auto()
    TRY_AGAIN = auto()


@dataclass(frozen=True, slots=True)
class CollectorAnswer:
    """The reception of a batch, its reason, and the delay that the collector asked for (seconds)."""

    reception: Reception
    reason: str = ""
    retry_after_s: float = 0.0


def post(http: httpx.Client, url: str, batch: Batch, timeout_s: float) -> CollectorAnswer:
    """Sends a batch once. Never raises."""
    headers = {"content-type": "application/json", "content-encoding": "gzip"}
    if batch.sender.token is not None:
        headers["authorization"] = f"Bearer {batch.sender.token}"
    try:
        response = http.post(url, content=_compressed(batch.body), headers=headers, timeout=timeout_s)
    except httpx.TransportError as error:
        return CollectorAnswer(Reception.TRY_AGAIN, f"{type(error).__name__}: {error}")
    except Exception as error:
        return CollectorAnswer(Reception.REFUSED, f"{type(error).__name__}: {error}")
    if response.is_success:
        return CollectorAnswer(Reception.TAKEN)
    again = response.status_code in _TRY_AGAIN
    reason = f"HTTP {response.status_code}"
    return CollectorAnswer(Reception.TRY_AGAIN if again else Reception.REFUSED, reason, _retry_after_s(response))


def suppress_instrumentation() -> None:
    """Keeps the agent's OpenTelemetry instrumentation from tracing this request."""
    try:
        from opentelemetry.context import attach, set_value
    except ImportError:
        return
    attach(set_value("suppress_instrumentation", True))


def _compressed(body: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, _GZIP)
    return compressor.compress(body) + compressor.flush()


def _retry_after_s(response: httpx.Response) -> float:
    """The header's number of seconds. HTTP dates are ignored: collectors send none."""
    try:
        asked = float(response.headers.get("retry-after", "0"))
    except ValueError:
        return 0.0
    return min(_MAX_RETRY_AFTER_S, max(0.0, asked))


# The buffer and the thread that deliver steps to one collector.

_FIRST_PAUSE_S: Final = 0.2
_PAUSE_CAP_S: Final = 5.0

_OPENING: Final = threading.Lock()
"""Held while a client is created, which imports modules and loads certificates. A process forked in the middle would
inherit half-imported modules and locked OpenSSL mutexes."""
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_OPENING.acquire, after_in_parent=_OPENING.release, after_in_child=_OPENING.release)


@dataclass(frozen=True, slots=True)
class DeliveryPolicy:
    """Limits and times of a delivery (seconds)."""

    batch_steps: int = 100
    """Steps per batch. One request per step would cost the agent a hundred times the CPU."""
    batch_bytes: int = 1024 * 1024
    """Bytes of JSON per batch, before compression: well below the collector's limit."""
    flush_s: float = 0.5
    buffer_steps: int = 10_000
    buffer_bytes: int = 16 * 1024 * 1024
    timeout_s: float = 5.0
    """Of one attempt."""
    deadline_s: float = 60.0
    """How long a batch is retried before it is dropped."""
    log_every_s: float = 60.0
    """The shortest interval between repeated log lines about a collector."""


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
        self._fresh: deque[tuple[int, InteractionStep | None, Assignment]] = deque(maxlen=policy.buffer_steps)
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

    def put(self, step: InteractionStep | None, assignment: Assignment) -> None:
        """Adds a step; a full queue drops its oldest. None counts one that could not be made.

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
