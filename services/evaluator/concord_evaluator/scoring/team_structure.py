"""The structure of a team as numbers and a label: how well it is connected, and how evenly messages are distributed."""

from collections.abc import Iterable
from statistics import fmean
from typing import Final

from concord.assessment.results import Finding, Quality, Record
from concord.assessment.thresholds import Fraction
from concord_evaluator.graph import AgentGraph
from concord_evaluator.graph.engines import distances

HIGH: Final = 0.66
MEDIUM: Final = 0.33
"""The coordination values from which on the label is `high`, and `medium`."""

BOTTLENECK_CAP: Final = 0.65
"""The highest coordination value of a team that depends on one agent."""

ENOUGH_PARTNERS: Final = 4
"""The direct partners that count in full: larger teams need short paths, not a full mesh."""


class TeamStructure(Record):
    """The structure of one trial. Undefined (null) for fewer than two agents; 0 for a silent team of two or more.

    `distribution` is undefined for two agents as well, who share every message whatever they do.
    """

    agents: int
    interactions: int
    density: float | None
    bottlenecks: list[str]
    isolated: list[str]
    communication: Fraction | None
    distribution: Fraction | None
    coordination_value: Fraction | None
    coordination_quality: Quality | None


def structure_of(graph: AgentGraph, findings: Iterable[Finding], *, seen: bool = True) -> TeamStructure:
    """Rates the structure of a team. Bottlenecks and isolated agents are those of `findings`.

    Of a team that could not be `seen`, only the size is known.

    coordination = communication * (1 + distribution) / 2, or communication alone where distribution is undefined:
    uneven work costs up to half of what the connections are worth. With a bottleneck it is at most `BOTTLENECK_CAP`.
    """
    if not seen:
        return TeamStructure(
            agents=len(graph.agents),
            interactions=len(graph.links.call_failed),
            density=None,
            bottlenecks=[],
            isolated=[],
            communication=None,
            distribution=None,
            coordination_value=None,
            coordination_quality=None,
        )
    found = list(findings)
    bottlenecks = [agent for finding in found if finding.id == "bottleneck" for agent in finding.agents]
    communication, distribution = _communication(graph), _distribution(graph)
    value = communication
    if communication is not None and distribution is not None:
        value = communication * (1 + distribution) / 2
    if value is not None and bottlenecks:
        value = min(value, BOTTLENECK_CAP)
    return TeamStructure(
        agents=len(graph.agents),
        interactions=len(graph.links.call_failed),
        density=graph.message_arcs.density,
        bottlenecks=bottlenecks,
        isolated=[agent for finding in found if finding.id == "isolated" for agent in finding.agents],
        communication=communication,
        distribution=distribution,
        coordination_value=value,
        coordination_quality=quality_of(value, has_bottleneck=bool(bottlenecks)),
    )


def quality_of(value: float | None, *, has_bottleneck: bool) -> Quality | None:
    """The label of a coordination value. None without a value."""
    if value is None:
        return None
    if has_bottleneck:
        return "bottleneck"
    if value >= HIGH:
        return "high"
    return "medium" if value >= MEDIUM else "low"


def _communication(graph: AgentGraph) -> float | None:
    """The mean of the average and the lowest integration of an agent, so that others cannot make up for one left out.

    An agent's integration is contacts * reach * sqrt(closeness), each in [0, 1] and 1 in a full mesh, over answered
    calls:
    contacts: its direct partners, of the min(n - 1, `ENOUGH_PARTNERS`) that are enough;
    reach: the share of the others that it is connected with, directly or through others;
    closeness: the mean of 1 / distance to all others (harmonic; unreachable ones count 0).
    In a very large team, a sample of the agents is used.
    """
    if len(graph.agents) < 2:
        return None
    found = distances(graph.answered_arcs)
    partners = graph.answered_arcs.out_degrees[list(found.sources)].tolist()
    integration = [
        _integration(len(graph.agents) - 1, *figures)
        for figures in zip(partners, found.reached, found.harmonic, strict=True)
    ]
    return min(1.0, (fmean(integration) + min(integration)) / 2)


def _integration(others: int, partners: int, reached: int, harmonic: float) -> float:
    contacts = min(1.0, partners / min(others, ENOUGH_PARTNERS))
    return contacts * reached / others * float((harmonic / others) ** 0.5)


def _distribution(graph: AgentGraph) -> float | None:
    """1 if all agents take part in equally many messages, 0 if one agent takes part in all of them.

    1 - Freeman's centralisation of message shares: with s the largest share of the messages that any agent takes
    part in, (1 - s) / (1 - 2/n). A message has two ends, so equal shares are 2/n.
    """
    agents, messages = len(graph.agents), graph.n_messages
    if agents < 2:
        return None
    if not messages:
        return 0.0
    if agents == 2:
        return None
    largest = max(graph.loads.values()) / messages
    return min(1.0, (1 - largest) / (1 - 2 / agents))
