"""Who called whom as a table, and how long calls took."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from concord.assessment.results import LatencySummary
from concord_cli.report.figures import duration, percent
from concord_cli.report.flows import Flow
from concord_cli.report.text import on_one_line

MAX_FLOWS: Final = 400
"""Rows of the table: beyond, the flows with most calls."""


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A flow as a table has it; `width`: of a bar that goes with its calls."""

    caller: str
    callee: str
    calls: int
    width: str
    errors: int
    retries: int
    latency: str
    provenance: str


@dataclass(frozen=True, slots=True)
class FlowTable:
    """The flows shown, by caller and callee; `left_out` counts the others."""

    rows: list[FlowRow]
    left_out: int

    @property
    def has_retries(self) -> bool:
        """Whether any call was tried again."""
        return any(row.retries for row in self.rows)


@dataclass(frozen=True, slots=True)
class LatencyFigure:
    """A latency with what there is to be wary of."""

    name: str
    value: str
    note: str | None


@dataclass(frozen=True, slots=True)
class LatencyView:
    """A latency summary, texts ready to be shown."""

    figures: list[LatencyFigure]
    n: int
    slowest: str | None
    warning: str


def table_of(flows: Sequence[Flow]) -> FlowTable:
    """The flows as a table."""
    strongest = set(sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee))[:MAX_FLOWS])
    most = max((flow.calls for flow in flows), default=0)
    return FlowTable([_row(flow, most) for flow in flows if flow in strongest], len(flows) - len(strongest))


def _row(flow: Flow, most: int) -> FlowRow:
    known = {"observed": flow.observed, "corroborated": flow.corroborated, "reported": flow.reported}
    return FlowRow(
        caller=on_one_line(flow.caller),
        callee=on_one_line(flow.callee),
        calls=flow.calls,
        width=percent(max(flow.calls, 0) / max(most, 1)),
        errors=flow.errors,
        retries=flow.retries,
        latency=duration(flow.latency_ms),
        provenance=", ".join(kind if n == flow.calls else f"{n:,} {kind}" for kind, n in known.items() if n),
    )


def latency_of(latency: LatencySummary) -> LatencyView | None:
    """The summary of latencies; None where none is known."""
    if latency.avg is None:
        return None
    return LatencyView(
        figures=[
            LatencyFigure("Average", duration(latency.avg), None),
            LatencyFigure("Median", duration(latency.p50), None),
            LatencyFigure("95th percentile", duration(latency.p95), _wary(reliable=latency.p95_reliable)),
            LatencyFigure("99th percentile", duration(latency.p99), _wary(reliable=latency.p99_reliable)),
        ],
        n=latency.n,
        slowest=None if latency.slowest_agent is None else on_one_line(latency.slowest_agent),
        warning=on_one_line(latency.warning),
    )


def _wary(*, reliable: bool) -> str | None:
    return None if reliable else "too few calls to rely on"
