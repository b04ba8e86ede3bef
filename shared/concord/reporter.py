"""The trace reporter: hands steps to the collector without ever keeping its agent waiting."""

import atexit
import logging
import os
import threading
import time
import weakref
from collections import Counter, deque
from dataclasses import dataclass
from typing import Final

import httpx
from tenacity import RetryCallState, Retrying, retry_if_exception_type, stop_any, wait_random_exponential
from tenacity.stop import stop_base

from concord.assignment import Assignment
from concord.reports import StepBatch
from concord.steps import InteractionStep

logger = logging.getLogger(__name__)

_RETRIED_STATUS: Final = frozenset({429, 502, 503, 504})


class _TryAgain(Exception):  # noqa: N818 - a signal to tenacity
    """The collector is not taking batches just now."""

    def __init__(self, retry_after_s: float) -> None:
        super().__init__(f"retry after {retry_after_s:g} s")
        self.retry_after_s = retry_after_s


@dataclass(frozen=True, slots=True)
class _Destination:
    """What one batch has in common: where it goes, which trace, and who reports."""

    url: str
    trace_id: str
    reporter: str
    token: str | None


class TraceReporter:
    """Reports steps fire-and-forget, for as many assessments at once as its agent takes part in.

    `report` appends to a bounded buffer and returns; one background thread sends batches and retries. What does not
    fit is dropped, oldest first, and the next batch says how much. Nothing here raises into the agent.
    Safe to use from any thread, from async code, and after a fork.
    """

    BATCH_STEPS = 100
    """A POST per step costs the agent a hundred times the CPU of a batch of this size."""
    FLUSH_S = 0.5
    BUFFER_STEPS = 10_000
    TIMEOUT_S = 5.0
    DEADLINE_S = 60.0
    """How long one batch is tried before it counts as dropped."""

    def __init__(self) -> None:
        self._buffer: deque[tuple[_Destination, InteractionStep]] = deque()
        self._dropped: Counter[str] = Counter()
        self._start_afresh()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=_WeakCall(self, "_start_afresh"))
        atexit.register(_WeakCall(self, "close"))

    def _start_afresh(self) -> None:
        """The state of a new process: the parent's thread did not come along; its buffer is the parent's to send."""
        self._buffer.clear()
        self._dropped.clear()
        self._wake = threading.Event()
        self._idle = threading.Event()
        self._idle.set()
        self._closing_by: float | None = None
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def report(self, step: InteractionStep, assignment: Assignment) -> None:
        """Takes a step made under an assignment. Returns at once; a step without a collector to go to is let go."""
        if assignment.collector_url is None or self._closing_by is not None:
            return
        token = None if assignment.token is None else assignment.token.get_secret_value()
        destination = _Destination(assignment.collector_url, assignment.trace_id, assignment.agent_id, token)
        if len(self._buffer) >= self.BUFFER_STEPS:
            self._buffer.popleft()
            self._dropped["buffer_full"] += 1
        self._buffer.append((destination, step))
        self._idle.clear()
        if self._thread is None:
            self._start()
        if len(self._buffer) >= self.BATCH_STEPS:
            self._wake.set()

    def flush(self, timeout_s: float = 5.0) -> bool:
        """Waits until everything reported so far was sent or dropped. False: it was not, within the timeout."""
        self._wake.set()
        return self._idle.wait(timeout_s)

    def close(self, timeout_s: float = 5.0) -> None:
        """Sends what is left, for at most `timeout_s`, and stops. Further steps are let go."""
        self._closing_by = time.monotonic() + timeout_s
        self._wake.set()
        if self._thread is not None:
            self._thread.join(timeout_s + 1)
            self._thread = None

    def _start(self) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="concord-reporter", daemon=True)
                self._thread.start()

    def _run(self) -> None:
        with httpx.Client(timeout=self.TIMEOUT_S) as http:
            while self._buffer or self._closing_by is None:
                self._wake.wait(self.FLUSH_S)
                self._wake.clear()
                while self._buffer:
                    self._send_some(http)
                self._idle.set()
                if self._buffer:
                    self._idle.clear()
        self._idle.set()

    def _send_some(self, http: httpx.Client) -> None:
        destination, _ = self._buffer[0]
        steps: list[InteractionStep] = []
        while self._buffer and len(steps) < self.BATCH_STEPS and self._buffer[0][0] == destination:
            steps.append(self._buffer.popleft()[1])
        dropped, self._dropped = self._dropped, Counter()
        batch = StepBatch(
            trace_id=destination.trace_id, reporter=destination.reporter, steps=steps, dropped=dict(dropped)
        )
        try:
            self._deliver(http, destination, batch)
        except Exception as error:
            self._dropped.update(dropped)
            self._dropped["undelivered"] += len(steps)
            logger.warning("%d steps not delivered to %s: %s", len(steps), destination.url, error)

    def _deliver(self, http: httpx.Client, destination: _Destination, batch: StepBatch) -> None:
        # One body for every try: the batch id is what makes a second delivery harmless.
        body = batch.model_dump_json(exclude_none=True).encode()
        headers = {"content-type": "application/json"}
        if destination.token is not None:
            headers["authorization"] = f"Bearer {destination.token}"
        retrying = Retrying(
            retry=retry_if_exception_type((_TryAgain, httpx.TransportError)),
            wait=_wait,
            stop=stop_any(_StopAtDeadline(time.monotonic() + self.DEADLINE_S), _StopWhenClosing(self)),
            reraise=True,
        )
        retrying(_post, http, f"{destination.url.rstrip('/')}/traces", body, headers)

    def _closes_before(self, moment: float) -> bool:
        return self._closing_by is not None and moment > self._closing_by


def _post(http: httpx.Client, url: str, body: bytes, headers: dict[str, str]) -> None:
    response = http.post(url, content=body, headers=headers)
    if response.status_code in _RETRIED_STATUS:
        raise _TryAgain(_retry_after_s(response))
    response.raise_for_status()


def _retry_after_s(response: httpx.Response) -> float:
    try:
        return min(30.0, float(response.headers.get("retry-after", "0")))
    except ValueError:
        return 0.0


_full_jitter = wait_random_exponential(multiplier=0.1, max=5)


def _wait(state: RetryCallState) -> float:
    """Full jitter, but never sooner than the collector asked for."""
    error = state.outcome.exception() if state.outcome is not None else None
    floor = error.retry_after_s if isinstance(error, _TryAgain) else 0.0
    return floor + _full_jitter(state)


class _StopAtDeadline(stop_base):
    def __init__(self, deadline: float) -> None:
        self._deadline = deadline

    def __call__(self, retry_state: RetryCallState) -> bool:
        return time.monotonic() + retry_state.upcoming_sleep > self._deadline


class _StopWhenClosing(stop_base):
    def __init__(self, reporter: TraceReporter) -> None:
        self._reporter = reporter

    def __call__(self, retry_state: RetryCallState) -> bool:
        return self._reporter._closes_before(time.monotonic() + retry_state.upcoming_sleep)


class _WeakCall:
    """Calls a method of a reporter that may be gone: the hooks of a process outlive the objects they were made for."""

    def __init__(self, reporter: TraceReporter, method: str) -> None:
        self._reporter = weakref.ref(reporter)
        self._method = method

    def __call__(self) -> None:
        if (reporter := self._reporter()) is not None:
            getattr(reporter, self._method)()
