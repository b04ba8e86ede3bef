"""Closing a trace: when all that can be expected is there, when nothing comes any more, or at the latest.

All that can be expected: every call that the gateway saw begin has ended; every one of them whose callee reports has a
child from it; and no report has come for a while. That while is nothing where it is known that nobody reports.
"""

import asyncio
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final

from concord.storage import TraceStore
from concord.trace.report import Channel, ReportBatch, StepBatch, unpack
from concord_gateway.watch import TrialWatch

FIRST_WORD_S: Final = 0.75
"""A reporter sends what it has every half second: who reports at all has been heard after this long."""

_POLL_S: Final = 0.05


@dataclass(slots=True)
class Reporters:
    """Who reports to the collector, as far as an assessment has shown; steps sent in band need no waiting for.

    `announced`: their cards say so. `heard`: they did. Whoever was not heard while a whole trace was closed is
    `silent`, and waited for no more, unless it is heard after all.
    """

    announced: frozenset[str] = frozenset()
    heard: set[str] = field(default_factory=set)
    silent: set[str] = field(default_factory=set)

    def expected(self, agents: Iterable[str]) -> set[str]:
        """Those of the agents from whom reports should come."""
        return {agent for agent in agents if agent in self.heard or agent in self.announced - self.silent}

    def unknown(self, agents: Iterable[str]) -> set[str]:
        """Those of the agents that may yet turn out to report."""
        return set(agents) - self.heard - self.silent

    def learn(self, agents: Iterable[str], heard: set[str]) -> None:
        """Takes in who was heard while a trace with these agents was closed."""
        self.heard |= heard
        self.silent = (self.silent | set(agents)) - self.heard


@dataclass(slots=True)
class _Arrivals:
    """What has come into a trace: who reported over the wire, and which calls have a child from their callee."""

    traces: TraceStore
    trace_id: str
    heard: set[str] = field(default_factory=set)
    _told: set[tuple[str, str]] = field(default_factory=set)
    _place: str = ""

    async def more(self) -> bool:
        """Reads what has come since the last time; returns whether anything had. Raises StorageUnavailableError."""
        before = self._place
        async for place, batch in self.traces.entries(self.trace_id, before):
            self._place = place
            if batch.channel is Channel.OBSERVED:
                continue
            if batch.channel is not Channel.IN_BAND:
                self.heard.add(batch.reporter)
            self._told |= {(batch.reporter, parent) for parent in _parents(batch)}
        return self._place != before

    def missing(self, watch: TrialWatch, reporting: set[str]) -> bool:
        """Whether a call to one of these agents was answered and has no child from it yet."""
        return any(
            call.callee in reporting and (call.callee, call.step_id) not in self._told for call in watch.answered
        )


async def wait_until_settled(
    traces: TraceStore, trace_id: str, watch: TrialWatch, reporters: Reporters, *, quiet_s: float, cap_s: float
) -> None:
    """Waits until a driven trial's trace can be closed, for at most `cap_s`. Raises StorageUnavailableError."""
    arrivals = _Arrivals(traces, trace_id)
    started = changed_at = time.monotonic()
    while True:
        if await arrivals.more():
            changed_at = time.monotonic()
        agents = {call.callee for call in watch.answered}
        reporting = reporters.expected(agents) | arrivals.heard
        pending = bool(watch.open_calls) or arrivals.missing(watch, reporting)
        enough_s = quiet_s if reporting else min(quiet_s, FIRST_WORD_S) if reporters.unknown(agents) else 0.0
        now = time.monotonic()
        if now - started >= cap_s or (not pending and now - changed_at >= enough_s):
            break
        await asyncio.sleep(_POLL_S)
    reporters.learn(agents, arrivals.heard)


def _parents(batch: ReportBatch) -> set[str]:
    return {step.parent for step in StepBatch.model_validate_json(unpack(batch.body)).steps if step.parent is not None}
