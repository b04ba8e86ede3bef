"""The flows between agents as a table with bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import on_one_line
from concord_cli.number_text import duration, percent
from concord_cli.row_view.flows import Flow

MAX_FLOWS: Final = 400
"""Limit of the table's rows: the flows with the most calls."""

SHOWN_FLOWS: Final = 10
"""The number of rows of the table that are not folded."""


@dataclass(frozen=True, slots=True)
class FlowRow:
    """A table row of a flow; `width`: of a bar in proportion to its calls."""

    caller: str
    callee: str
    calls: int
    width: str
    errors: int
    retries: int
    latency: str
    provenance: str
    known: str


@dataclass(frozen=True, slots=True)
class FlowTable:
    """The flows shown, those with the most calls first; `left_out` counts the others."""

    rows: list[FlowRow]
    left_out: int

    @property
    def parts(self) -> list[list[FlowRow]]:
        """The rows in two parts: those that are always shown, and those that are folded."""
        return [part for part in (self.rows[:SHOWN_FLOWS], self.rows[SHOWN_FLOWS:]) if part]

    @property
    def has_known(self) -> bool:
        """Whether any call was found in spans."""
        return any(row.known for row in self.rows)

    @property
    def has_errors(self) -> bool:
        """Whether any call failed."""
        return any(row.errors for row in self.rows)

    @property
    def has_retries(self) -> bool:
        """Whether any call was retried."""
        return any(row.retries for row in self.rows)


def table_of(flows: Sequence[Flow]) -> FlowTable:
    """The flows as a table."""
    strongest = sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee))[:MAX_FLOWS]
    most = max((flow.calls for flow in flows), default=0)
    return FlowTable([_row(flow, most) for flow in strongest], len(flows) - len(strongest))


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
        provenance=_parts(known, flow.calls),
        known=_parts(dict(flow.known), flow.calls),
    )


def _parts(counts: Mapping[str, int], calls: int) -> str:
    return ", ".join(kind if n == calls else f"{n:,} {kind}" for kind, n in counts.items() if n)
