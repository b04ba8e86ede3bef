"""Flows: the calls between two agents, summed over the trials shown; and the latencies of all calls."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby

from concord.assessment.results import InteractionRecord, LatencySummary, TrialRecord
from concord.wire.roster import GREEN_AGENT
from concord_cli.display_text import on_one_line
from concord_cli.number_text import duration


@dataclass(frozen=True, slots=True)
class Flow:
    """All calls from one agent to another. `latency_ms`: the mean over the trials, weighted by calls."""

    caller: str
    callee: str
    calls: int
    errors: int
    retries: int
    observed: int
    corroborated: int
    reported: int
    latency_ms: float | None
    known: tuple[tuple[str, int], ...] = ()
    """The calls that were found in spans by what tells them and by what a second source says."""


def flows_of(trials: Iterable[TrialRecord]) -> list[Flow]:
    """The flows between the team's agents, sorted by caller and callee, without the assessor's own calls."""
    records = (record for trial in trials for record in trial.interactions)
    between_agents = [record for record in records if GREEN_AGENT not in (record.caller, record.callee)]
    pairs = groupby(sorted(between_agents, key=_ends), key=_ends)
    return [_flow(caller, callee, list(group)) for (caller, callee), group in pairs]


def _ends(record: InteractionRecord) -> tuple[str, str]:
    return record.caller, record.callee


def _flow(caller: str, callee: str, records: list[InteractionRecord]) -> Flow:
    return Flow(
        caller=caller,
        callee=callee,
        calls=sum(record.calls for record in records),
        errors=sum(record.errors for record in records),
        retries=sum(record.retries for record in records),
        observed=sum(record.observed for record in records),
        corroborated=sum(record.corroborated for record in records),
        reported=sum(record.reported for record in records),
        latency_ms=_mean_latency(records),
        known=_known(records),
    )


def _known(records: Iterable[InteractionRecord]) -> tuple[tuple[str, int], ...]:
    known: Counter[str] = Counter()
    for record in records:
        for counts in (record.known_by, record.support):
            known.update({} if counts is None else counts.known())
    return tuple(known.items())


def _mean_latency(records: list[InteractionRecord]) -> float | None:
    known = [(record.latency_avg_ms, record.calls) for record in records if record.latency_avg_ms is not None]
    calls = sum(calls for _, calls in known)
    return sum(latency * (n / calls) for latency, n in known) if calls else None


@dataclass(frozen=True, slots=True)
class LatencyFigure:
    """A latency, with a note if it is unreliable."""

    name: str
    value: str
    note: str | None


@dataclass(frozen=True, slots=True)
class LatencyView:
    """A latency summary, safe to display."""

    figures: list[LatencyFigure]
    n: int
    slowest: str | None
    warning: str


def latency_of(latency: LatencySummary) -> LatencyView | None:
    """The summary of latencies; None if no latency is known."""
    if latency.avg is None:
        return None
    return LatencyView(
        figures=[
            LatencyFigure("Average", duration(latency.avg), None),
            LatencyFigure("Median", duration(latency.p50), None),
            LatencyFigure("95th percentile", duration(latency.p95), _reliability_note(reliable=latency.p95_reliable)),
            LatencyFigure("99th percentile", duration(latency.p99), _reliability_note(reliable=latency.p99_reliable)),
        ],
        n=latency.n,
        slowest=None if latency.slowest_agent is None else on_one_line(latency.slowest_agent),
        warning=on_one_line(latency.warning),
    )


def _reliability_note(*, reliable: bool) -> str | None:
    return None if reliable else "too few calls to be reliable"
