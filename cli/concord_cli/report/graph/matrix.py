"""A large team's calls as a matrix: callers by callees, those with the most calls first. Pure and deterministic."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.display_text import counted, on_one_line, shortened
from concord_cli.report.graph.drawing import messages_by_agent
from concord_cli.report.graph.nodes import LABEL_LIMIT
from concord_cli.row_view.flows import Flow

MATRIX_FROM: Final = 20
"""The number of agents above which a matrix is easier to read than a drawing."""

SHADES: Final = 4


@dataclass(frozen=True, slots=True)
class CallCell:
    """The calls from one agent to another. `column`, `row`: from 0; `shade`: from 1 to `SHADES`, by calls."""

    column: int
    row: int
    text: str
    title: str
    shade: int
    failed: bool


@dataclass(frozen=True, slots=True)
class CallMatrix:
    """The agents in the order of rows and columns (name, whole name), and the cells with calls."""

    agents: tuple[tuple[str, str], ...]
    cells: tuple[CallCell, ...]


def call_matrix(agents: Sequence[str], flows: Sequence[Flow]) -> CallMatrix | None:
    """The matrix of agents that call others or are called; None for a small team, which is drawn."""
    if len(agents) <= MATRIX_FROM:
        return None
    calls = messages_by_agent(flows)
    order = sorted(agents, key=lambda agent: (-calls[agent], agent))
    at = {agent: place for place, agent in enumerate(order)}
    most = max((flow.calls for flow in flows), default=1)
    return CallMatrix(
        agents=tuple((shortened(agent, LABEL_LIMIT), on_one_line(agent)) for agent in order),
        cells=tuple(
            _cell(flow, at[flow.callee], at[flow.caller], most)
            for flow in sorted(flows, key=lambda flow: (at[flow.caller], at[flow.callee]))
        ),
    )


def _cell(flow: Flow, column: int, row: int, most: int) -> CallCell:
    failed = f", {flow.errors:,} failed" if flow.errors else ""
    return CallCell(
        column=column,
        row=row,
        text=f"{flow.calls}" if flow.calls < 100 else "99+",
        title=f"{on_one_line(flow.caller)} → {on_one_line(flow.callee)}: {counted(flow.calls, 'call')}{failed}",
        shade=min(SHADES, max(1, -(-SHADES * flow.calls // max(most, 1)))),
        failed=flow.errors > 0,
    )
