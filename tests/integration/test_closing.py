"""Closing: a trace is closed once all expected reports are there; the gateway expects none in vain, and loses none."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial

import pytest

from concord.storage.connection import Storage, connect
from concord.storage.quotas import TraceLimits
from concord.trace.report import Channel, SerialisedBatch, StepBatch
from concord.trace.step import CallType, InteractionStep
from concord.wire.ids import new_step_id, new_trace_id
from concord_gateway.closing import Reporters, wait_until_settled
from concord_gateway.open_calls import OpenCall, TrialCalls

HOURS = 3600.0
GUARD_S = 20.0
"""Far more real time than any of these tests takes."""


@dataclass
class Clock:
    """The gateway's time, which passes only while it waits between two looks at a trace."""

    now: float = 0.0
    due: list[tuple[float, Callable[[], Awaitable[None]]]] = field(default_factory=list)

    def monotonic(self) -> float:
        return self.now

    def after(self, seconds: float, happen: Callable[[], Awaitable[None]]) -> None:
        """Has something happen at a later time."""
        self.due.append((self.now + seconds, happen))

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        for event in [each for each in self.due if each[0] <= self.now]:
            self.due.remove(event)
            await event[1]()
        await asyncio.sleep(0)


@dataclass
class Trial:
    """A trial that was driven: its trace, and the calls in it."""

    storage: Storage
    clock: Clock
    reporters: Reporters = field(default_factory=Reporters)
    trace_id: str = field(default_factory=new_trace_id)
    trial_calls: TrialCalls = field(default_factory=TrialCalls)

    def call(self, callee: str, *, answered: bool = True) -> OpenCall:
        call = self.trial_calls.begin("green-agent", callee)
        self.trial_calls.end(call.step_id, answered=answered)
        return call

    async def report(self, reporter: str, parent: str | None = None, channel: Channel = Channel.HTTP) -> None:
        step = InteractionStep(
            step_id=new_step_id(), trace_id=self.trace_id, parent_step_id=parent, call_type=CallType.TOOL
        )
        batch = StepBatch(trace_id=self.trace_id, reporter=reporter, steps=[step])
        serialised = SerialisedBatch.of(batch)
        received, receipt = serialised.received(channel, authenticated=True), serialised.receipt()
        quota = None if channel is Channel.OBSERVED else TraceLimits().quota(received, receipt, len(received.body))
        await self.storage.traces.append(received, receipt, quota=quota)

    async def close(self, *, quiet_s: float, cap_s: float) -> int:
        """Waits until the trace can be closed; returns the number of its batches then."""
        async with asyncio.timeout(GUARD_S):
            await wait_until_settled(
                self.storage.traces, self.trace_id, self.trial_calls, self.reporters, quiet_s=quiet_s, cap_s=cap_s
            )
        return await self.storage.traces.length(self.trace_id)

    def next(self) -> "Trial":
        return Trial(self.storage, self.clock, self.reporters)


async def is_expected(trial: Trial) -> bool:
    """Whether a trial is kept open for the report of its agent."""
    call = trial.call("a")
    trial.clock.after(1, partial(trial.report, "a", call.step_id))
    return await trial.close(quiet_s=0.1, cap_s=HOURS) == 1


@pytest.fixture
async def trial(redis_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Trial]:
    clock = Clock()
    monkeypatch.setattr("concord_gateway.closing.time", clock)
    monkeypatch.setattr("concord_gateway.closing.asyncio", clock)
    async with connect(redis_url) as storage:
        yield Trial(storage, clock)


def announced(*agents: str) -> Reporters:
    return Reporters(announced=frozenset(agents))


async def test_a_trial_without_a_call_is_closed_at_once(trial: Trial) -> None:
    await trial.close(quiet_s=HOURS, cap_s=HOURS)


async def test_a_team_that_does_not_report_is_not_waited_for(trial: Trial) -> None:
    trial.call("a")
    await trial.close(quiet_s=HOURS, cap_s=HOURS)
    following = trial.next()
    following.call("a")
    assert following.reporters.unknown({"a"}) == set()
    await following.close(quiet_s=HOURS, cap_s=HOURS)


async def test_an_agent_that_reports_unannounced_is_expected_to_report_in_later_trials(trial: Trial) -> None:
    call = trial.call("a")
    await trial.report("a", call.step_id)
    await trial.close(quiet_s=0.1, cap_s=HOURS)
    assert await is_expected(trial.next())


async def test_an_agent_that_reports_too_late_is_expected_to_report_in_later_trials(trial: Trial) -> None:
    call = trial.call("a")
    await trial.close(quiet_s=HOURS, cap_s=HOURS)
    await trial.storage.traces.close(trial.trace_id)
    await trial.report("a", call.step_id)
    assert await is_expected(trial.next())


async def test_an_announced_reporter_is_waited_for_beyond_the_quiet_time(trial: Trial) -> None:
    trial.reporters = announced("a", "b")
    for seconds, callee in ((5, "a"), (10, "b"), (15, "a")):
        trial.clock.after(seconds, partial(trial.report, callee, trial.call(callee).step_id))
    assert await trial.close(quiet_s=0.1, cap_s=HOURS) == 3


async def test_an_announced_reporter_that_never_reports_is_waited_for_in_one_trial_only(trial: Trial) -> None:
    trial.reporters = announced("a")
    trial.call("a")
    await trial.close(quiet_s=0.1, cap_s=1)
    following = trial.next()
    following.call("a")
    await following.close(quiet_s=HOURS, cap_s=HOURS)


async def test_a_silent_reporter_does_not_delay_later_trials_in_which_others_report(trial: Trial) -> None:
    trial.reporters = announced("a", "b")
    for current, cap_s in ((trial, 1.0), (trial.next(), HOURS)):
        current.call("a")
        call = current.call("b")
        await current.report("b", call.step_id)
        await current.close(quiet_s=0.1, cap_s=cap_s)


async def test_no_report_is_expected_from_an_agent_that_did_not_answer(trial: Trial) -> None:
    trial.reporters = announced("a")
    trial.call("a", answered=False)
    await trial.close(quiet_s=0.1, cap_s=HOURS)


async def test_steps_in_band_count_as_the_expected_report(trial: Trial) -> None:
    trial.reporters = announced("a")
    call = trial.call("a")
    await trial.report("a", call.step_id, Channel.IN_BAND)
    await trial.close(quiet_s=0.1, cap_s=HOURS)


async def test_a_child_step_that_another_agent_reports_does_not_count_as_the_callees_report(trial: Trial) -> None:
    trial.reporters = announced("a")
    call = trial.call("a")
    await trial.report("b", call.step_id)
    trial.clock.after(1, partial(trial.report, "a", call.step_id))
    assert await trial.close(quiet_s=0.1, cap_s=HOURS) == 2


async def test_every_batch_starts_the_quiet_time_anew(trial: Trial) -> None:
    trial.reporters = announced("a")
    call = trial.call("a")
    for seconds in range(1, 6):
        trial.clock.after(seconds, partial(trial.report, "a", call.step_id))
    assert await trial.close(quiet_s=2, cap_s=HOURS) == 5
    assert 7 <= trial.clock.now < 7.5


async def test_a_call_under_way_keeps_the_trace_open(trial: Trial) -> None:
    call = trial.trial_calls.begin("a", "b")

    async def end() -> None:
        await trial.report("green-agent", channel=Channel.OBSERVED)
        trial.trial_calls.end(call.step_id, answered=True)

    trial.clock.after(1, end)
    assert await trial.close(quiet_s=0, cap_s=HOURS) == 1


async def test_a_call_that_its_caller_abandoned_does_not_keep_the_trace_open(trial: Trial) -> None:
    call = trial.trial_calls.begin("a", "b")
    trial.trial_calls.leave(call.step_id)
    await trial.close(quiet_s=0, cap_s=HOURS)


async def test_an_endless_reporter_does_not_keep_the_trace_open_beyond_the_cap(trial: Trial) -> None:
    trial.reporters = announced("a")
    call = trial.call("a")

    async def report() -> None:
        while True:
            await trial.report("a", call.step_id)
            await asyncio.sleep(0.05)

    reporting = asyncio.create_task(report())
    assert await trial.close(quiet_s=HOURS, cap_s=1) > 0
    reporting.cancel()
