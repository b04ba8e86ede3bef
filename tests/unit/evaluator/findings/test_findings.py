"""Findings: the teams that have each finding, and the teams that have none."""

import pytest

from concord.assessment import Thresholds
from concord.assessment.results import Finding
from concord_evaluator.findings import METRICS_NEEDED, Shape, find, shown_findings, structural
from concord_evaluator.metrics import measure
from tests.kit.graphs import Team, agents, chain, disjoint_pairs, graph_of, mesh, ring, star, with_isolated

NEEDED: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}


def found(team: Team, thresholds: Thresholds | None = None) -> list[Finding]:
    graph = graph_of(team)
    return find(graph, measure(graph, NEEDED), thresholds or Thresholds())


def ids(findings: list[Finding]) -> list[tuple[str, list[str]]]:
    return [(finding.id, finding.agents) for finding in findings]


@pytest.mark.parametrize("n", range(3, 9))
def test_a_mesh_has_no_findings(n: int) -> None:
    assert found(mesh(n)) == []


@pytest.mark.parametrize("n", range(4, 7))
def test_the_hub_of_a_star_is_a_bottleneck_and_over_centralised(n: int) -> None:
    assert ids(found(star(n))) == [("bottleneck", ["a00"]), ("over_centralised", ["a00"])]


def test_the_bad_team_of_six_is_a_bottleneck_with_an_isolated_agent() -> None:
    team = with_isolated(star(5))
    bottleneck, *others = found(team)
    assert (bottleneck.id, bottleneck.agents, bottleneck.threshold) == ("bottleneck", ["a00"], 0.5)
    assert bottleneck.value == pytest.approx(0.6)
    assert ids(others) == [
        ("over_centralised", ["a00"]),
        ("isolated", ["isolated00"]),
        ("low_density", []),
        ("silent", ["isolated00"]),
    ]


@pytest.mark.parametrize(
    ("shape", "shown"),
    [
        (Shape.PRESCRIBED, ["silent"]),
        (Shape.DELIVERED, []),
        (Shape.CUT_SHORT, []),
        (Shape.CHOSEN, ["bottleneck", "over_centralised", "isolated", "low_density", "silent"]),
    ],
)
def test_no_structure_is_found_that_the_team_did_not_choose_and_no_silence_of_agents_nobody_could_ask(
    shape: Shape, shown: list[str]
) -> None:
    assert [finding.id for finding in shown_findings(found(with_isolated(star(5))), shape)] == shown


def test_a_prescribed_hub_does_not_lower_the_rating_of_a_structure_and_an_isolated_agent_does() -> None:
    rated = structural(found(with_isolated(star(5))), Shape.PRESCRIBED)
    assert ids(rated) == [("isolated", ["isolated00"]), ("silent", ["isolated00"])]


def test_betweenness_of_exactly_the_threshold_is_no_bottleneck() -> None:
    assert "bottleneck" not in {finding.id for finding in found(with_isolated(star(4)))}


def test_declared_agents_without_calls_are_isolated_and_silent() -> None:
    assert ids(found((agents(2), []))) == [
        ("isolated", ["a00"]),
        ("isolated", ["a01"]),
        ("low_density", []),
        ("silent", ["a00"]),
        ("silent", ["a01"]),
    ]


def test_a_single_agent_is_not_isolated() -> None:
    assert found((agents(1), [])) == []


def test_two_agents_that_share_every_message_are_not_over_centralised() -> None:
    assert found(disjoint_pairs(2, 1)) == []


def test_density_at_the_threshold_is_low() -> None:
    ring_of_ten, density = ring(10), 2 / 9
    assert "low_density" not in {f.id for f in found(ring_of_ten, Thresholds(healthy_density=density - 0.001))}
    assert "low_density" in {f.id for f in found(ring_of_ten, Thresholds(healthy_density=density))}


def test_thresholds_come_from_the_configuration() -> None:
    assert ids(found(chain(5), Thresholds(bottleneck=0.7))) == []
    assert ids(found(chain(5), Thresholds(bottleneck=0.6))) == [("bottleneck", ["a02"])]


def test_a_finding_lists_its_steps_sorted_and_limited() -> None:
    spoke, *_ = [finding for finding in found(star(4)) if finding.id == "bottleneck"]
    assert spoke.step_ids == ["000", "001", "002"]
    assert len(found(star(40))[0].step_ids) == 20


def test_a_finding_describes_and_advises_nothing() -> None:
    assert [finding.advice for finding in found(star(5))] == [
        "a00 is on most paths between the other agents.",
        "a00 takes part in most messages.",
    ]
