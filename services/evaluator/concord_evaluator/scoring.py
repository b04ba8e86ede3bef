"""Scoring: the score of a trial and its coordination label. Deterministic, and versioned as a whole."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import fsum
from statistics import fmean
from typing import Final, Literal

from concord.assessment.request import Fraction
from concord.assessment.results import Finding, Grading, MetricParameter, Quality, SubScore
from concord.assessment.table import Record
from concord_evaluator.graph import AgentGraph, CallTally
from concord_evaluator.graph.engines import distances

# The structure of a team as numbers and a label: how well it is connected, and how evenly messages are distributed.

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
    communication, distribution = _team_communication(graph), _team_distribution(graph)
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


def _team_communication(graph: AgentGraph) -> float | None:
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


def _team_distribution(graph: AgentGraph) -> float | None:
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


# The score of a trial: its proven outcome, or for a given pattern the weighted mean over parts of its structure.

SCORING_VERSION: Final = "3"
"""Changes whenever the scoring rules change."""


Part = Literal["task", "communication", "distribution", "reliability", "efficiency"]

WEIGHTS: Final[Mapping[Part, float]] = {
    "task": 0.35,
    "communication": 0.35,
    "distribution": 0.1,
    "reliability": 0.1,
    "efficiency": 0.1,
}

_REQUIRED_PARTS: Final[frozenset[Part]] = frozenset({"task", "communication"})
"""A score needs one of these: that the few calls made went well says nothing about coordination."""


@dataclass(frozen=True, slots=True)
class Score:
    """The overall score (None if unknown), and its parts with their inputs."""

    overall: float | None
    parts: tuple[SubScore, ...]


def score_outcome(grading: Grading, proven: float | None = None) -> Score:
    """Scores a trial by its outcome; a team task by the part of it that is `proven` (0 to 1)."""
    parts = [_outcome(grading)]
    if proven is None:
        return Score(grading.value, tuple(parts))
    parts.append(SubScore(id="proven", value=proven, weight=1, reason=None))
    return Score(None if grading.value is None else proven, tuple(parts))


def _outcome(grading: Grading) -> SubScore:
    inputs = [MetricParameter(name="judged_by", value=grading.source)]
    if grading.scorer is not None:
        inputs.append(MetricParameter(name="scorer", value=grading.scorer))
    return SubScore(id="outcome", value=grading.value, weight=1, reason=grading.reason, inputs=inputs)


def score_structure(
    structure: TeamStructure | None, calls: CallTally | None, weights: Mapping[Part, float] | None = None
) -> Score:
    """Scores a given pattern from its structure and calls (None: not evaluated).

    `weights` replace the default ones, part by part. overall = sum(w * v) / sum(w) over the defined parts. The part
    `task` is never defined, because a given pattern has no task.
    """
    weigh = {**WEIGHTS, **(weights or {})}
    parts = (
        _part("task", None, "a given pattern has no outcome", weigh),
        _of_structure("communication", structure, "there are fewer than two agents", weigh),
        _of_structure("distribution", structure, "there are fewer than three agents", weigh),
        _reliability(calls, weigh),
        _efficiency(calls, weigh),
    )
    return Score(_overall(parts), parts)


def _overall(parts: tuple[SubScore, ...]) -> float | None:
    defined = [(part.value, part.weight) for part in parts if part.value is not None]
    total = fsum(weight for _, weight in defined)
    if not total or not any(part.value is not None and part.weight for part in parts if part.id in _REQUIRED_PARTS):
        return None
    return min(1.0, fsum(value * weight for value, weight in defined) / total)


def _of_structure(
    part: Literal["communication", "distribution"],
    structure: TeamStructure | None,
    reason: str,
    weights: Mapping[Part, float],
) -> SubScore:
    if structure is None:
        return _part(part, None, "the graph was not evaluated", weights)
    inputs = {"agents": structure.agents, "interactions": structure.interactions}
    return _part(part, getattr(structure, part), reason, weights, **inputs)


def _reliability(calls: CallTally | None, weights: Mapping[Part, float]) -> SubScore:
    """The share of attempts that succeeded: a successful retry costs less than a call that fails for good."""
    if calls is None or not calls.attempts:
        return _part("reliability", None, "there are no calls", weights)
    value = 1 - calls.failed_attempts / calls.attempts
    return _part("reliability", value, "", weights, attempts=calls.attempts, failed_attempts=calls.failed_attempts)


def _efficiency(calls: CallTally | None, weights: Mapping[Part, float]) -> SubScore:
    """The share of the agents' attempts that were neither retries nor repeats."""
    if calls is None or not calls.own_attempts:
        return _part("efficiency", None, "there are no calls between agents", weights)
    value = max(0.0, 1 - (calls.retries + calls.repeats) / calls.own_attempts)
    inputs = {"attempts": calls.own_attempts, "retries": calls.retries, "repeats": calls.repeats}
    return _part("efficiency", value, "", weights, **inputs)


def _part(part: Part, value: float | None, reason: str, weights: Mapping[Part, float], **inputs: int) -> SubScore:
    """A part of the score. `reason`: why it is undefined; not shown for a defined part."""
    return SubScore(
        id=part,
        value=value,
        weight=weights[part],
        reason=reason if value is None else None,
        inputs=[MetricParameter(name=name, value=str(count)) for name, count in inputs.items()],
    )
