"""Structure: the labels of whole families of teams, and the score of a given pattern."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import Thresholds
from concord_evaluator.findings import METRICS_NEEDED, find
from concord_evaluator.graph import CallTally
from concord_evaluator.metrics import measure
from concord_evaluator.scoring import WEIGHTS, Score, TeamStructure, score_structure, structure_of
from tests.kit.graphs import (
    Team,
    agents,
    chain,
    complete_dag,
    disjoint_pairs,
    graph_of,
    mesh,
    partial_mesh,
    ring,
    side_by_side,
    star,
    with_isolated,
)

CALLS = CallTally(
    calls=10, failed_calls=1, attempts=20, failed_attempts=5, own_attempts=10, retries=2, comparable=8, repeats=1
)


NEEDED: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}


def structure(team: Team) -> TeamStructure:
    graph = graph_of(team)
    return structure_of(graph, find(graph, measure(graph, NEEDED), Thresholds()))


def scored(team: Team) -> Score:
    return score_structure(structure(team), graph_of(team).tally)


def value(scored: Score, part: str) -> float | None:
    return next(each.value for each in scored.parts if each.id == part)


@pytest.mark.parametrize("team", [*map(mesh, range(2, 9)), *map(complete_dag, range(3, 9))])
def test_complete_teams_are_labelled_high(team: Team) -> None:
    assert structure(team).coordination_quality == "high"
    assert structure(team).coordination_value == pytest.approx(1.0)


@pytest.mark.parametrize("team", [*map(ring, range(4, 10)), partial_mesh()])
def test_rings_and_partial_meshes_are_labelled_medium(team: Team) -> None:
    assert structure(team).coordination_quality == "medium"


@pytest.mark.parametrize(
    "team",
    [
        *(disjoint_pairs(n, 1) for n in range(3, 9)),
        *(disjoint_pairs(n, 2) for n in range(4, 9)),
        disjoint_pairs(6, 3),
        side_by_side(mesh(3), mesh(3)),
        side_by_side(mesh(5), mesh(5)),
        (agents(4), []),
    ],
)
def test_disconnected_teams_are_labelled_low(team: Team) -> None:
    assert structure(team).coordination_quality == "low"


@pytest.mark.parametrize("team", [*map(star, range(3, 9)), *map(chain, range(3, 9)), with_isolated(star(5))])
def test_stars_and_chains_are_labelled_bottleneck(team: Team) -> None:
    rated = structure(team)
    assert rated.coordination_quality == "bottleneck"
    assert rated.coordination_value is not None
    assert rated.coordination_value <= 0.65


@pytest.mark.parametrize("isolated", [1, 2, 3])
@pytest.mark.parametrize("k", range(3, 13))
def test_a_mesh_with_isolated_agents_is_never_labelled_high(k: int, isolated: int) -> None:
    assert structure(with_isolated(mesh(k), isolated)).coordination_quality in {"medium", "low"}


def test_a_bottleneck_caps_the_coordination_value() -> None:
    bottleneck, *_ = find(graph_of(star(4)), measure(graph_of(star(4)), NEEDED), Thresholds())
    rated = structure_of(graph_of(mesh(4)), [bottleneck])
    assert (rated.coordination_value, rated.coordination_quality) == (0.65, "bottleneck")


def test_coordination_values_match_values_by_hand() -> None:
    # A ring of four: contacts 2/3, reach 1, closeness (1 + 1 + 1/2) / 3; all agents are alike and evenly loaded.
    assert structure(ring(4)).coordination_value == pytest.approx(2 / 3 * (2.5 / 3) ** 0.5)
    # A star of five: the hub is at 1, a spoke at 1/4 * sqrt((1 + 3/2) / 4); the hub takes part in every message.
    spoke = 0.25 * 0.625**0.5
    rated = structure(star(5))
    assert rated.communication == pytest.approx(((1 + 4 * spoke) / 5 + spoke) / 2)
    assert rated.distribution == 0.0
    assert rated.coordination_value == pytest.approx((rated.communication or 0) / 2)


def test_calls_that_all_fail_are_low_coordination() -> None:
    assert structure_of(graph_of(complete_dag(4), failing=True), []).coordination_quality == "low"


TEAMS = st.integers(2, 7).flatmap(
    lambda n: st.lists(st.sampled_from(mesh(n)[1]), max_size=20).map(lambda calls: (agents(n), calls))
)


@settings(max_examples=25)
@given(TEAMS)
def test_every_value_is_a_fraction(team: Team) -> None:
    rated = structure(team)
    parts = [rated.communication, rated.distribution, rated.coordination_value, scored(team).overall]
    assert all(part is None or 0 <= part <= 1 for part in parts)


@settings(max_examples=25)
@given(TEAMS, st.permutations(agents(7)))
def test_the_names_of_agents_do_not_matter(team: Team, names: list[str]) -> None:
    other = dict(zip(agents(7), names, strict=True))
    renamed = [other[agent] for agent in team[0]], [(other[a], other[b]) for a, b in team[1]]
    value, same = structure(team).coordination_value, structure(renamed).coordination_value
    assert value == pytest.approx(same)


def test_a_silent_team_scores_0() -> None:
    silent = scored((agents(3), []))
    assert (value(silent, "communication"), value(silent, "distribution"), silent.overall) == (0.0, 0.0, 0.0)


def test_a_single_agent_has_no_coordination_to_score() -> None:
    alone = score_structure(structure((agents(1), [])), CALLS)
    assert value(alone, "communication") is None
    assert value(alone, "distribution") is None
    assert alone.overall is None


def test_the_score_is_the_weighted_mean_of_the_defined_parts() -> None:
    total = score_structure(structure(mesh(4)), CALLS)
    assert value(total, "reliability") == 0.75
    assert value(total, "efficiency") == pytest.approx(0.7)
    assert total.overall == pytest.approx((0.35 * 1 + 0.1 * 1 + 0.1 * 0.75 + 0.1 * 0.7) / 0.65)


def test_an_undefined_part_is_left_out_with_the_reason() -> None:
    task, *_ = score_structure(structure(mesh(4)), CALLS).parts
    assert (task.value, task.reason) == (None, "a given pattern has no outcome")


def test_given_weights_replace_the_default_ones() -> None:
    only_communication = dict.fromkeys(WEIGHTS, 0.0) | {"communication": 1.0}
    assert score_structure(structure(ring(4)), CALLS, only_communication).overall == pytest.approx(
        structure(ring(4)).communication
    )


def test_without_any_weight_there_is_no_score() -> None:
    assert score_structure(structure(ring(4)), CALLS, dict.fromkeys(WEIGHTS, 0.0)).overall is None


def test_of_an_unseen_team_only_the_size_is_known() -> None:
    unseen = structure_of(graph_of(mesh(4)), [], seen=False)
    assert (unseen.agents, unseen.density, unseen.coordination_value, unseen.coordination_quality) == (4, *[None] * 3)
