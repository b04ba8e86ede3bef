"""The classification of patterns: a trial's record compared with the expected kind and figures."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final, get_args

from concord.assessment.results import TrialRecord
from tests.kit.ground_truth.patterns import Kind

KINDS: Final[tuple[Kind, ...]] = get_args(Kind)

_OF_LABELS: Final[dict[str, Kind]] = {
    "high": "high_coordination",
    "medium": "medium_coordination",
    "low": "low_coordination",
    "bottleneck": "bottleneck",
}


def kind_of(label: str, isolated: int, agents: int) -> Kind:
    """The kind of pattern that a label stands for. With some isolated agents and no bottleneck it is
    `partial_isolation`."""
    if label != "bottleneck" and 0 < isolated < agents:
        return "partial_isolation"
    return _OF_LABELS[label]


@dataclass(frozen=True, slots=True)
class Classified:
    """A scenario's kind, the kind found by the evaluator, and the figures that differ from the expected ones."""

    id: str
    kind: Kind
    found: Kind
    deviations: tuple[str, ...]


def classified(scenario: dict[str, Any], record: TrialRecord) -> Classified:
    """Compares a trial's record with its scenario."""
    isolated = [agent for finding in record.findings if finding.id == "isolated" for agent in finding.agents]
    agents = len(scenario["interaction_pattern"]["agents"])
    found = kind_of(record.coordination_quality or "low", len(isolated), agents)
    return Classified(scenario["id"], scenario["kind"], found, tuple(_deviations(scenario["expected_metrics"], record)))


def _deviations(expected: dict[str, Any], record: TrialRecord) -> Iterator[str]:
    values = {metric.id: metric.value for metric in record.metrics if metric.agent is None}
    figures = {
        "graph_density": values["density"],
        "max_betweenness": values["max_betweenness"],
        "hub_share": values["hub_share"],
        "average_path_length": values["average_path_length"],
        "reachable_pairs": values["reachable_pairs"],
        "connected_components": values["connected_components"],
        "coordination_value": record.coordination_value,
    }
    for name, value in figures.items():
        if (value is None) != (expected[name] is None) or abs((value or 0) - (expected[name] or 0)) > 1e-12:
            yield f"{name}: {value}, not {expected[name]}"
    found = {
        kind: [agent for finding in record.findings if finding.id == kind for agent in finding.agents]
        for kind in ("bottleneck", "over_centralised", "isolated")
    }
    words = {
        "bottlenecks": found["bottleneck"],
        "over_centralised": found["over_centralised"],
        "isolated_agents": found["isolated"],
        "has_bottleneck": bool(found["bottleneck"]),
        "has_low_density": any(finding.id == "low_density" for finding in record.findings),
        "coordination_quality": record.coordination_quality,
    }
    for name, found_value in words.items():
        if found_value != expected[name]:
            yield f"{name}: {found_value}, not {expected[name]}"


def accuracy(results: Sequence[Classified]) -> float:
    """The share of scenarios whose kind was found."""
    return sum(each.kind == each.found for each in results) / len(results)


def table(results: Iterable[Classified]) -> str:
    """The confusion matrix of kinds as a text, with the number of scenarios of each kind whose figures are all as
    expected."""
    listed = list(results)
    lines = [f"{'':20}" + "".join(f"{kind.removesuffix('_coordination'):>18}" for kind in KINDS) + f"{'figures':>10}"]
    for kind in KINDS:
        of_kind = [each for each in listed if each.kind == kind]
        counts = "".join(f"{sum(each.found == found for each in of_kind):>18}" for found in KINDS)
        exact = sum(not each.deviations for each in of_kind)
        lines.append(f"{kind:20}{counts}{exact:>7}/{len(of_kind)}")
    lines.append(f"accuracy {accuracy(listed):.3f} over {len(listed)} scenarios")
    return "\n".join(lines)
