"""The calls between agents: who called whom, how long calls took, and what could not be observed."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from types import MappingProxyType
from typing import Final

from concord.assessment.results import (
    InteractionRecord,
    LatencySummary,
    MetricStatus,
    Quality,
    TraceIntegrity,
    TrialRecord,
)
from concord.wire.roster import GREEN_AGENT
from concord_cli.display_text import on_one_line
from concord_cli.number_text import duration
from concord_cli.row_view.table import Cell, Column, Table, not_listed, number_columns, table_of

MAX_FLOWS: Final = 400
"""Limit of the table's rows: the flows with the most calls."""

MAX_NAMES: Final = 10
"""Limit of the participants named; the others are counted."""

REMEDY: Final = (
    "To let the gateway observe a participant's calls, take its peers' addresses from /peers, or start it with "
    "`concord adapt`.",
    "Alternatively, report the calls to the collector: see docs/reporting.md.",
)

_WITHOUT_LABEL: Final[Mapping[MetricStatus, str]] = MappingProxyType(
    {MetricStatus.UNDEFINED: "not observed", MetricStatus.NOT_APPLICABLE: "one participant"}
)


@dataclass(frozen=True, slots=True)
class Flow:
    """All calls from one agent to another, summed over trials. `latency_ms`: their mean, weighted by calls."""

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
    counts = {name: sum(getattr(record, name) for record in records) for name in _COUNTS}
    return Flow(caller, callee, **counts, latency_ms=_mean_latency(records), known=_known(records))


_COUNTS: Final = "calls", "errors", "retries", "observed", "corroborated", "reported"
"""What flows sum."""


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


def flow_table(flows: Sequence[Flow]) -> Table | None:
    """Who called whom, the flows with the most calls first; None without any."""
    if not flows:
        return None
    strongest = sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee))[:MAX_FLOWS]
    most = max(1, strongest[0].calls)
    columns = [
        *(Column("Caller"), Column("Callee"), *number_columns("Calls")),
        *(*number_columns("Failed", "Retries", optional=True), *number_columns("Latency")),
        *(Column("Provenance"), Column("Known by", optional=True)),
    ]
    rows = [
        (
            on_one_line(flow.caller),
            on_one_line(flow.callee),
            Cell(str(flow.calls), behind=max(flow.calls, 0) / most),
            Cell(str(flow.errors), sign="✕", kind="bad") if flow.errors else "0",
            str(flow.retries),
            duration(flow.latency_ms),
            _parts(
                {"observed": flow.observed, "corroborated": flow.corroborated, "reported": flow.reported}, flow.calls
            ),
            _parts(dict(flow.known), flow.calls),
        )
        for flow in strongest
    ]
    left_out = not_listed(len(flows) - len(strongest), "weaker flow")
    return table_of("Who called whom", columns, rows, kind="flows", left_out=left_out)


def _parts(counts: Mapping[str, int], calls: int) -> str:
    return ", ".join(kind if n == calls else f"{n:,} {kind}" for kind, n in counts.items() if n)


@dataclass(frozen=True, slots=True)
class LatencyView:
    """Latencies, safe to display. `figures`: name, value, and a note on an unreliable one or ""."""

    figures: list[tuple[str, str, str]]
    n: int
    slowest: str | None
    warning: str


def latency_of(latency: LatencySummary) -> LatencyView | None:
    """The summary of latencies; None if no latency is known."""
    if latency.avg is None:
        return None
    doubt = "too few calls to be reliable"
    return LatencyView(
        figures=[
            ("Average", duration(latency.avg), ""),
            ("Median", duration(latency.p50), ""),
            ("95th percentile", duration(latency.p95), "" if latency.p95_reliable else doubt),
            ("99th percentile", duration(latency.p99), "" if latency.p99_reliable else doubt),
        ],
        n=latency.n,
        slowest=None if latency.slowest_agent is None else on_one_line(latency.slowest_agent),
        warning=on_one_line(latency.warning),
    )


def unobserved_text(integrity: TraceIntegrity) -> str | None:
    """A sentence on the participants whose calls could not be observed; None if there are none."""
    hidden = [each.agent for each in integrity.participants if each.observability != "full"]
    if not hidden:
        return None
    unheard = [each.agent for each in integrity.participants if each.observability == "none"]
    text = f"Calls by these participants, if any, could not be observed: {_names(hidden)}."
    if not unheard:
        return text
    return f"{text} Calls to {'them' if unheard == hidden else _names(unheard)} were not observed either."


def fully_observed(integrity: TraceIntegrity) -> bool:
    """Whether all calls could be observed; if not, agents may have made calls that are not in the row."""
    return integrity.observability in (None, "full")


def no_calls_text(integrity: TraceIntegrity) -> str:
    """The text in place of calls between agents if there are none."""
    return "No agent called another." if fully_observed(integrity) else "No call between agents was observed."


def coordination_label(quality: Quality | None, status: MetricStatus) -> str | None:
    """The label of coordination, or why there is none; None if the row does not say why."""
    return quality or _WITHOUT_LABEL.get(status)


def _names(agents: Sequence[str]) -> str:
    shown = ", ".join(agents[:MAX_NAMES])
    return shown if len(agents) <= MAX_NAMES else f"{shown} and {len(agents) - MAX_NAMES} more"
