"""What the page needs of each trace, so that its row need not stay in memory."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from concord.assessment.result_row import ResultRow
from concord.assessment.results import CallRecord
from concord.wire.roster import GREEN_AGENT

Edge = tuple[str, str]
"""Caller and callee."""


@dataclass(frozen=True, slots=True)
class EdgeFacts:
    """The calls of one pair of agents in one trace. `durations_ms`: of those calls whose duration is known."""

    calls: int
    failed: int
    durations_ms: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One trace. `tokens`: by agent, of the model calls that tell them. `took_s`: from its first to its last time."""

    trace_id: str
    started_at: datetime | None
    version: str | None
    label: str | None
    score: float | None
    took_s: float
    edges: Mapping[Edge, EdgeFacts]
    tokens: Mapping[str, int]

    @classmethod
    def of(cls, row: ResultRow) -> "RunFacts":
        """The facts of a row."""
        durations: dict[Edge, list[float]] = {}
        for call in (call for trial in row.detail.trials for call in trial.calls):
            if call.duration_ms is not None:
                durations.setdefault(_ends(call), []).append(call.duration_ms)
        calls: Counter[Edge] = Counter()
        failed: Counter[Edge] = Counter()
        tokens: Counter[str] = Counter()
        for trial in row.detail.trials:
            for pair in trial.interactions:
                if GREEN_AGENT not in (pair.caller, pair.callee):
                    calls[pair.caller, pair.callee] += pair.calls
                    failed[pair.caller, pair.callee] += pair.errors
            for use in trial.uses:
                tokens[use.agent] += use.tokens
        return cls(
            trace_id=row.detail.assessment_id,
            started_at=row.detail.started_at,
            version=row.detail.version,
            label=row.detail.coordination_quality,
            score=row.score,
            took_s=row.time_used,
            edges={
                edge: EdgeFacts(calls[edge], failed[edge], tuple(durations.get(edge, ()))) for edge in sorted(calls)
            },
            tokens=dict(tokens),
        )

    @property
    def calls(self) -> int:
        """The calls between agents."""
        return sum(each.calls for each in self.edges.values())

    @property
    def failed(self) -> int:
        """Those of them that failed."""
        return sum(each.failed for each in self.edges.values())


def _ends(call: CallRecord) -> Edge:
    return call.caller, call.callee
