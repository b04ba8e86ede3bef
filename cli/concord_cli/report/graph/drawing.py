"""Draws the agent graph: chooses the agents and flows that fit, and lays them out. Pure and deterministic."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Final

from concord.wire.roster import GREEN_AGENT
from concord_cli.report.graph.arrows import Arrow, LightEdge, arrows_of, light_edges_of
from concord_cli.report.graph.layout import Layout, circular_layout
from concord_cli.report.graph.nodes import (
    MAX_UPRIGHT,
    ROW,
    Box,
    Node,
    box_of,
    direction_between_spokes,
    largest_radius,
    node,
    positions,
    rows,
)
from concord_cli.row_view.flows import Flow

MAX_AGENTS: Final = 60
"""More names than these cannot be read around one circle."""


@dataclass(frozen=True, slots=True)
class Selection:
    """The agents with calls, those without, and the flows that are drawn; the rest is only counted."""

    agents: tuple[str, ...]
    isolated: tuple[str, ...]
    flows: tuple[Flow, ...]
    agents_left_out: int = 0
    isolated_left_out: int = 0
    calls_left_out: int = 0


def select(agents: Iterable[str], flows: Sequence[Flow]) -> Selection:
    """Selects the agents and flows to draw. Agents keep the given order; those that only flows name come last."""
    between = [flow for flow in flows if flow.caller != flow.callee]
    ends = (end for flow in between for end in (flow.caller, flow.callee))
    everyone = dict.fromkeys(agent for agent in (*agents, *ends) if agent != GREEN_AGENT)
    speaking = {end for flow in between for end in (flow.caller, flow.callee)}
    isolated = [agent for agent in everyone if agent not in speaking]
    chosen = speaking if len(speaking) <= MAX_AGENTS else _ends_of_strongest(between)
    shown = tuple(flow for flow in between if {flow.caller, flow.callee} <= chosen)
    return Selection(
        agents=tuple(agent for agent in everyone if agent in chosen),
        isolated=tuple(isolated[:MAX_AGENTS]),
        flows=shown,
        agents_left_out=len(speaking) - len(chosen),
        isolated_left_out=max(0, len(isolated) - MAX_AGENTS),
        calls_left_out=sum(flow.calls for flow in between) - sum(flow.calls for flow in shown),
    )


def _ends_of_strongest(flows: Iterable[Flow]) -> set[str]:
    """The ends of the flows with the most calls, up to `MAX_AGENTS`."""
    chosen: set[str] = set()
    for flow in sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee)):
        wanted = chosen | {flow.caller, flow.callee}
        if len(wanted) <= MAX_AGENTS:
            chosen = wanted
    return chosen


def messages_by_agent(flows: Iterable[Flow]) -> Counter[str]:
    """The number of calls that each agent made or received."""
    messages: Counter[str] = Counter()
    for flow in flows:
        messages[flow.caller] += flow.calls
        messages[flow.callee] += flow.calls
    return messages


DENSE: Final = 400
"""More flows than these are drawn faintly, since they would cover everything."""

MAX_ARROWS: Final = 80
"""The number of flows that are arrows: those with the most calls, and as many failed ones. All other flows between
two agents are one line."""

MARGIN: Final = 10.0
_NARROWEST: Final = 320.0
_SMALLEST: Final = 0.5
"""The radius of a node with hardly any calls, as a share of the largest radius."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """The agent graph in SVG user units. `isolated_from`: the y of the section of isolated agents."""

    frame: Box
    nodes: tuple[Node, ...]
    arrows: tuple[Arrow, ...]
    light: tuple[LightEdge, ...]
    isolated: tuple[Node, ...]
    isolated_from: float
    most_calls: int
    chosen: Selection

    @property
    def dense(self) -> bool:
        """Whether there are too many flows to tell them apart."""
        return len(self.chosen.flows) > DENSE

    @property
    def has_errors(self) -> bool:
        """Whether any flow has failed calls."""
        return any(arrow.failed for arrow in self.arrows)


def draw(agents: Sequence[str], flows: Sequence[Flow]) -> Drawing:
    """Draws a team: the agents with calls on a circle, isolated agents in rows below it."""
    chosen = select(agents, flows)
    layout = circular_layout(chosen.agents, chosen.flows)
    nodes = _nodes(layout, chosen.flows)
    team = reduce(Box.around, map(box_of, nodes.values()), Box(-_NARROWEST / 2, 0, _NARROWEST / 2, 0))
    strong, light = _by_weight(chosen.flows)
    isolated = tuple(rows(chosen.isolated, team.left, team.right, team.bottom + 1.8 * ROW))
    return Drawing(
        frame=_framed(reduce(Box.around, map(box_of, isolated), team)),
        nodes=tuple(nodes.values()),
        arrows=tuple(arrows_of(strong, nodes, widest=0.4 * largest_radius(layout))),
        light=tuple(light_edges_of(light, nodes)),
        isolated=isolated,
        isolated_from=round(team.bottom + ROW / 2, 1),
        most_calls=max((flow.calls for flow in chosen.flows), default=0),
        chosen=chosen,
    )


def _by_weight(flows: Sequence[Flow]) -> tuple[list[Flow], list[Flow]]:
    """The flows that are arrows, and the light ones."""
    ranked = sorted(flows, key=lambda flow: (-flow.calls, flow.caller, flow.callee))
    failed = [flow for flow in ranked if flow.errors][:MAX_ARROWS]
    strong = dict.fromkeys([*ranked[:MAX_ARROWS], *failed])
    return [flow for flow in flows if flow in strong], [flow for flow in flows if flow not in strong]


def _nodes(layout: Layout, flows: Sequence[Flow]) -> dict[str, Node]:
    """The nodes. Their areas grow with the calls that their agents made or received."""
    calls, largest = messages_by_agent(flows), largest_radius(layout)
    most = max(calls.values(), default=1)
    upright, free = len(layout.ring) <= MAX_UPRIGHT, direction_between_spokes(layout)
    nodes = {}
    for agent, point in positions(layout).items():
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
