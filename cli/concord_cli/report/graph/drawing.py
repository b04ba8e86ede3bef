"""From agents and flows to a drawing: pure, and the same for the same team to the last digit."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from concord_cli.report.flows import Flow
from concord_cli.report.graph.arrangement import Arrangement, arrange
from concord_cli.report.graph.arrows import arrows_of
from concord_cli.report.graph.nodes import (
    MAX_UPRIGHT,
    ROW,
    Box,
    box_of,
    free_of_spokes,
    largest_radius,
    node,
    places,
    rows,
)
from concord_cli.report.graph.selection import Selection, messages_by_agent, select
from concord_cli.report.graph.shapes import Arrow, Node

DENSE: Final = 400
"""Flows beyond which they are drawn faintly: they would cover everything, and each other."""

MARGIN: Final = 10.0
_NARROWEST: Final = 320.0
_SMALLEST: Final = 0.5
"""The radius of a node with hardly any messages, as a share of the largest."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The agent graph in user units. `isolated_from`: where the part of those who spoke to nobody begins."""

    frame: Box
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    isolated: tuple[Node, ...]
    isolated_from: float
    most_calls: int
    chosen: Selection

    @property
    def dense(self) -> bool:
        """Whether the flows are too many to be told apart."""
        return len(self.arrows) > DENSE

    @property
    def has_errors(self) -> bool:
        """Whether any flow has failed calls."""
        return any(arrow.failed for arrow in self.arrows)


def draw(agents: Sequence[str], flows: Sequence[Flow]) -> Drawing:
    """Draws a team: the agents that spoke on a ring, those that spoke to nobody in rows below it."""
    chosen = select(agents, flows)
    arrangement = arrange(chosen.agents, chosen.flows)
    nodes = _nodes(arrangement, chosen.flows)
    team = reduce(Box.around, map(box_of, nodes.values()), Box(-_NARROWEST / 2, 0, _NARROWEST / 2, 0))
    isolated = tuple(rows(chosen.isolated, team.left, team.right, team.bottom + 1.8 * ROW))
    return Drawing(
        frame=_framed(reduce(Box.around, map(box_of, isolated), team)),
        nodes=tuple(nodes.values()),
        arrows=tuple(arrows_of(chosen.flows, nodes, widest=0.4 * largest_radius(arrangement))),
        isolated=isolated,
        isolated_from=round(team.bottom + ROW / 2, 1),
        most_calls=max((flow.calls for flow in chosen.flows), default=0),
        chosen=chosen,
    )


def _nodes(arrangement: Arrangement, flows: Sequence[Flow]) -> dict[str, Node]:
    """The nodes, whose areas go with the calls that their agents made or received."""
    calls, largest = messages_by_agent(flows), largest_radius(arrangement)
    most = max(calls.values(), default=1)
    upright, free = len(arrangement.ring) <= MAX_UPRIGHT, free_of_spokes(arrangement)
    nodes = {}
    for agent, point in places(arrangement).items():
        share = max(calls[agent], 0) / max(most, 1)
        radius = largest * (_SMALLEST + (1 - _SMALLEST) * share**0.5)
        nodes[agent] = node(agent, calls[agent], point, radius, free, upright=upright)
    return nodes


def _framed(box: Box) -> Box:
    return Box(
        round(box.left - MARGIN, 1),
        round(box.top - MARGIN, 1),
        round(box.right + MARGIN, 1),
        round(box.bottom + MARGIN, 1),
    )
