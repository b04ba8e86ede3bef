"""When to close a trace: once everything expected has arrived, or at the latest after a time limit.

Three things are expected. Every call that the gateway saw begin has ended. Every call to an agent that reports has a
child step from that agent. No report has arrived for `quiet_s`, unless nobody reports at all.
"""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from concord.storage import TraceStore
from concord.trace.decoding import parents_in
from concord.trace.report import Channel, unpack
from concord_gateway.assignments import TrialCalls

FIRST_WORD_S: Final = 0.1
"""A reporter sends a trace's first step at once, so an agent that reports has been heard from by then."""

_POLL_S: Final = 0.05


@dataclass(slots=True)
class Reporters:
    """Which agents report to the collector. Steps sent in band need no waiting.

    `announced` agents say so in their cards, `heard` agents have reported, in time or late. An agent that was not heard
    from while a whole trace was closed is `silent`: the gateway stops waiting for it until it reports.
    """

    announced: frozenset[str] = frozenset()
    heard: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)
    closed: str = ""
    """The trace that was closed last. Who reports to it later does report."""

    def expected(self, agents: Iterable[str]) -> set[str]:
        """The agents that reports are expected from."""
        return {agent for agent in agents if agent in self.heard or agent in self.announced - self.silent}

    def unknown(self, agents: Iterable[str]) -> set[str]:
        """The agents that may turn out to report."""
        return set(agents) - self.heard - self.silent

    def learn(self, agents: Iterable[str], heard: set[str]) -> None:
        """Records which agents were heard from while a trace with these agents was closed."""
        self.heard |= heard
        self.silent = (self.silent | set(agents)) - self.heard


@dataclass(slots=True)
class _Arrivals:
    """The contents of a trace so far: the agents that reported over the wire, and the calls with a child step from
    their callee."""

    traces: TraceStore
    trace_id: str
    heard: set[str] = field(default_factory=set)
    _told: set[tuple[str, str]] = field(default_factory=set)
    _place: str = ""

    async def more(self) -> bool:
        """Reads new batches; returns whether there were any. Raises StorageUnavailableError."""
        before = self._place
        async for place, batch in self.traces.entries(self.trace_id, before):
            self._place = place
            if batch.channel is Channel.OBSERVED:
                continue
            if batch.channel is not Channel.IN_BAND:
                self.heard.add(batch.reporter)
            self._told |= {(batch.reporter, parent) for parent in parents_in(unpack(batch.body))}
        return self._place != before

    def missing(self, trial_calls: TrialCalls, reporting: set[str]) -> bool:
        """Whether an answered call to one of these agents has no child step from it yet."""
        return any(
            call.callee in reporting and (call.callee, call.step_id) not in self._told for call in trial_calls.answered
        )


async def wait_until_settled(
    traces: TraceStore, trace_id: str, trial_calls: TrialCalls, reporters: Reporters, *, quiet_s: float, cap_s: float
) -> None:
    """Waits until a trial's trace can be closed, for at most `cap_s`. Raises StorageUnavailableError."""
    if reporters.closed:
        reporters.heard |= (await traces.late(reporters.closed)).keys()
    arrivals = _Arrivals(traces, trace_id)
    started = changed_at = time.monotonic()
    while True:
        if await arrivals.more():
            changed_at = time.monotonic()
        agents = {call.callee for call in trial_calls.answered}
        reporting = reporters.expected(agents) | arrivals.heard
        pending = bool(trial_calls.n_open) or arrivals.missing(trial_calls, reporting)
        enough_s = quiet_s if reporting else min(quiet_s, FIRST_WORD_S) if reporters.unknown(agents) else 0.0
        now = time.monotonic()
        if now - started >= cap_s or (not pending and now - changed_at >= enough_s):
            break
        await asyncio.sleep(_POLL_S)
    reporters.learn(agents, arrivals.heard)
    reporters.closed = trace_id
