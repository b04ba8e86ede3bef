"""Closing: a trace is closed once all expected reports are there; the gateway expects none in vain, and loses none."""

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from types import SimpleNamespace
from typing import cast
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from concord.storage import TraceStore
from concord.trace.report import Channel, ReportBatch
from concord.trace.step import CallType
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.wire.roster import new_step_id
from concord_gateway.assignments import OpenCall, TrialCalls
from concord_gateway.closing import FIRST_WORD_S, Reporters, wait_until_settled

QUIET_S, CAP_S, LOOK_S = 2.0, 30.0, 0.1
"""`LOOK_S`: more than the time between two looks at a trace."""


@dataclass
class Clock:
    """A clock that only sleepers move on. What is due happens on the way."""

    now: float = 0.0
    due: list[tuple[float, int, Callable[[], None]]] = field(default_factory=list)
    places: Iterator[int] = field(default_factory=count)

    def after(self, seconds: float, happens: Callable[[], None]) -> None:
        heappush(self.due, (self.now + seconds, next(self.places), happens))

    async def sleep(self, seconds: float) -> None:
        assert self.now < 10 * CAP_S, "a trial is waited for without end"
        self.now += seconds
        while self.due and self.due[0][0] <= self.now:
            heappop(self.due)[2]()


@dataclass
class Traces:
    """The batches of each trace, and who reported to it once it was closed."""

    batches: dict[str, list[ReportBatch]] = field(default_factory=dict)
    late_reporters: dict[str, dict[str, int]] = field(default_factory=dict)

    async def entries(self, trace_id: str, after: str) -> AsyncIterator[tuple[str, ReportBatch]]:
        for place, batch in enumerate(self.batches.get(trace_id, ()), 1):
            if place > int(after or 0):
                yield str(place), batch

    async def late(self, trace_id: str) -> dict[str, int]:
        return self.late_reporters.get(trace_id, {})


@dataclass
class Trial:
    """A trial that was driven: its trace, and the calls in it."""

    reporters: Reporters = field(default_factory=Reporters)
    clock: Clock = field(default_factory=Clock)
    traces: Traces = field(default_factory=Traces)
    trace_id: str = "trace-1"
    trial_calls: TrialCalls = field(default_factory=TrialCalls)

    def call(self, callee: str, *, answered: bool = True) -> OpenCall:
        call = self.trial_calls.begin("green-agent", callee)
        self.trial_calls.end(call.step_id, answered=answered)
        return call

    def report(self, reporter: str, parent: str | None = None, channel: Channel = Channel.HTTP) -> None:
        step = Step(new_step_id(), self.trace_id, CallType.TOOL, parent)
        batch = SerialisedBatch.of(TraceBatch(new_step_id(), self.trace_id, reporter, [step]))
        self.traces.batches.setdefault(self.trace_id, []).append(batch.received(channel, authenticated=True))

    def report_after(self, seconds: float, call: OpenCall) -> None:
        self.clock.after(seconds, lambda: self.report(call.callee, call.step_id))

    def close(self, quiet_s: float = QUIET_S) -> tuple[float, int]:
        """The seconds until the trace can be closed, and the number of its batches then."""
        began, traces = self.clock.now, cast(TraceStore, self.traces)
        time, module = SimpleNamespace(monotonic=lambda: self.clock.now), sys.modules[wait_until_settled.__module__]
        closing = wait_until_settled(
            traces, self.trace_id, self.trial_calls, self.reporters, quiet_s=quiet_s, cap_s=CAP_S
        )
        with patch.object(module, "time", time), patch("asyncio.sleep", self.clock.sleep):
            asyncio.run(closing)
        return self.clock.now - began, len(self.traces.batches.get(self.trace_id, ()))

    def next(self) -> "Trial":
        return Trial(self.reporters, self.clock, self.traces, f"{self.trace_id}+")


def announced(*agents: str) -> Trial:
    return Trial(Reporters(announced=frozenset(agents)))


def is_expected(trial: Trial) -> bool:
    """Whether a trial is kept open for the report of its agent, long after the quiet time."""
    trial.report_after(5 * QUIET_S, trial.call("a"))
    return trial.close()[1] == 1


CALLEES = st.sets(st.sampled_from("abc"))


@settings(max_examples=25)
@given(CALLEES, st.lists(CALLEES, min_size=1, max_size=6))
def test_a_silent_agent_is_not_waited_for_again_in_each_trial(
    announcing: Collection[str], callees: list[set[str]]
) -> None:
    """A trial waits to its end for a new agent that announced reports, and a moment for one that did not."""
    trial, known = announced(*announcing), set[str]()
    for called in callees:
        for callee in called:
            trial.call(callee)
        waited, _ = trial.close()
        new = called - known
        longest = CAP_S if new & set(announcing) else FIRST_WORD_S if new else 0
        assert longest <= waited + 1e-9
        assert waited <= longest + (LOOK_S if new else 0)
        trial, known = trial.next(), known | called


def test_a_silent_agent_does_not_delay_later_trials_in_which_others_report() -> None:
    trial = announced("a", "b")
    for longest in (CAP_S, QUIET_S, QUIET_S):
        trial.call("a")
        trial.report("b", trial.call("b").step_id)
        assert trial.close()[0] <= longest + LOOK_S
        trial = trial.next()


def test_a_trial_without_a_call_is_closed_at_once() -> None:
    assert announced("a").close() == (0, 0)


def test_an_agent_that_reports_unannounced_is_expected_to_report_in_later_trials() -> None:
    trial = Trial()
    trial.report("a", trial.call("a").step_id)
    trial.close()
    assert is_expected(trial.next())


def test_an_agent_that_reports_too_late_is_expected_to_report_in_later_trials() -> None:
    trial = Trial()
    trial.call("a")
    trial.close()
    trial.traces.late_reporters[trial.trace_id] = {"a": 1}
    assert is_expected(trial.next())


def test_an_announced_reporter_is_waited_for_beyond_the_quiet_time() -> None:
    trial = announced("a", "b")
    for place, callee in enumerate("aba", 1):
        trial.report_after(place * 2 * QUIET_S, trial.call(callee))
    assert trial.close()[1] == 3


def test_no_report_is_expected_from_an_agent_that_did_not_answer() -> None:
    trial = announced("a")
    trial.call("a", answered=False)
    assert trial.close() == (0, 0)


def test_steps_in_band_count_as_the_expected_report() -> None:
    trial = announced("a")
    trial.report("a", trial.call("a").step_id, Channel.IN_BAND)
    assert trial.close()[0] <= QUIET_S + LOOK_S


def test_no_report_over_the_wire_is_expected_from_an_agent_that_has_sent_its_steps_in_band() -> None:
    trial = Trial()
    trial.report("a", trial.call("a").step_id, Channel.IN_BAND)
    trial.close()
    assert not is_expected(trial.next())


def test_a_child_step_that_another_agent_reports_does_not_count_as_the_callees_report() -> None:
    trial = announced("a")
    call = trial.call("a")
    trial.report("b", call.step_id)
    trial.report_after(2 * QUIET_S, call)
    assert trial.close()[1] == 2


def test_every_batch_starts_the_quiet_time_anew() -> None:
    trial = announced("a")
    call = trial.call("a")
    for place in range(5):
        trial.report_after(place * 0.9 * QUIET_S, call)
    waited, batches = trial.close()
    assert batches == 5
    assert waited >= 4 * 0.9 * QUIET_S + QUIET_S


def test_a_call_under_way_keeps_the_trace_open() -> None:
    trial = Trial()
    call = trial.trial_calls.begin("a", "b")
    trial.clock.after(5 * QUIET_S, lambda: trial.report("green-agent", channel=Channel.OBSERVED))
    trial.clock.after(5 * QUIET_S, lambda: trial.trial_calls.end(call.step_id, answered=True))
    assert trial.close(quiet_s=0)[1] == 1


def test_a_call_that_its_caller_abandoned_does_not_keep_the_trace_open() -> None:
    trial = Trial()
    trial.trial_calls.leave(trial.trial_calls.begin("a", "b").step_id)
    assert trial.close() == (0, 0)


def test_an_endless_reporter_does_not_keep_the_trace_open_beyond_the_cap() -> None:
    trial = announced("a")
    call = trial.call("a")
    for place in range(100):
        trial.report_after(place, call)
    waited, _ = trial.close()
    assert CAP_S <= waited <= CAP_S + LOOK_S
