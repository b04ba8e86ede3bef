"""The drawing of the agent graph: its agents, their layout, and its arrows."""

from itertools import combinations, pairwise

import pytest
from hypothesis import given

from concord.wire.roster import GREEN_AGENT
from concord_cli.report.graph import draw
from concord_cli.report.graph.drawing import MAX_AGENTS
from concord_cli.report.graph.layout import box_of, circular_layout
from concord_cli.row_view.flows import Flow
from tests.unit.cli.report.flows import flow, flows, names, star, teams
from tests.unit.cli.report.laws import law

Team = tuple[list[str], list[Flow]]


@law
@given(teams())
def test_every_agent_is_drawn_once_on_the_ring_if_it_spoke_else_apart(team: Team) -> None:
    agents, calls = team
    drawing = draw(agents, calls)
    speaking = {end for each in calls if each.caller != each.callee for end in (each.caller, each.callee)}

    assert sorted(node.agent for node in drawing.nodes) == sorted(speaking)
    assert [node.agent for node in drawing.isolated] == [agent for agent in agents if agent not in speaking]


@law
@given(teams())
def test_every_flow_between_two_agents_is_one_arrow(team: Team) -> None:
    agents, calls = team
    drawn = [(arrow.caller, arrow.callee) for arrow in draw(agents, calls).arrows]

    assert sorted(drawn) == [(each.caller, each.callee) for each in calls if each.caller != each.callee]


@law
@given(teams())
def test_the_same_team_is_drawn_the_same_to_the_last_digit(team: Team) -> None:
    agents, calls = team

    assert draw(agents, calls) == draw(list(agents), list(calls))


@law
@given(teams())
def test_no_two_nodes_touch_and_everything_is_within_the_frame(team: Team) -> None:
    drawing = draw(*team)
    for one, other in combinations((*drawing.nodes, *drawing.isolated), 2):
        assert abs(complex(one.x - other.x, one.y - other.y)) > one.radius + other.radius
    for box in map(box_of, (*drawing.nodes, *drawing.isolated)):
        assert box.around(drawing.frame) == drawing.frame


@pytest.mark.parametrize("n", [2, 5, 9, 12])
def test_level_labels_do_not_overlap(n: int) -> None:
    agents = [f"an-agent-with-a-long-id-{i}" for i in range(n)]
    boxes = [box_of(node) for node in draw(agents, [flow(*pair) for pair in pairwise(agents)]).nodes]

    assert not any(
        one.left < other.right and other.left < one.right and one.top < other.bottom and other.top < one.bottom
        for one, other in combinations(boxes, 2)
    )


def test_the_assessor_is_never_drawn() -> None:
    drawing = draw(["a", "b", GREEN_AGENT], flows("ab"))

    assert GREEN_AGENT not in {node.agent for node in (*drawing.nodes, *drawing.isolated)}


def test_the_hub_of_a_star_stands_in_the_middle() -> None:
    hub, *spokes = names(7)

    assert circular_layout([hub, *spokes], star(hub, spokes)).centre == hub


def test_a_mesh_has_no_agent_in_the_middle() -> None:
    agents = names(5)

    assert circular_layout(agents, [flow(*pair) for pair in combinations(agents, 2)]).centre is None


def test_no_agent_stands_in_the_middle_if_a_flow_would_run_through_it() -> None:
    hub, *spokes = names(9)
    couples = set(zip(spokes[::2], spokes[1::2], strict=True))
    between_spokes = [flow(*pair) for pair in combinations(spokes, 2) if pair not in couples]

    assert circular_layout([hub, *spokes], [*star(hub, spokes), *between_spokes]).centre is None


@pytest.mark.parametrize("n", [4, 7, 15])
def test_neighbours_in_a_chain_stand_side_by_side(n: int) -> None:
    chain = names(n)
    shuffled = chain[::2] + chain[1::2]
    ring = circular_layout(shuffled, [flow(*pair) for pair in pairwise(chain)]).ring
    apart = [abs(ring.index(one) - ring.index(other)) for one, other in pairwise(chain)]

    assert all(distance in (1, n - 1) for distance in apart)


def test_more_calls_make_a_wider_arrow() -> None:
    arrows = draw(list("abc"), [flow("a", "b", 2), flow("a", "c", 9)]).arrows
    widths = {arrow.callee: arrow.width for arrow in arrows}

    assert widths["c"] > widths["b"]


def test_the_two_directions_between_two_agents_are_two_lines() -> None:
    there, back = draw(list("ab"), flows("ab", "ba")).arrows

    assert there.line != back.line


def test_a_flow_with_errors_is_marked_with_their_number() -> None:
    (arrow,) = draw(list("ab"), [flow("a", "b", 5, errors=2)]).arrows

    assert arrow.failed
    assert arrow.mark is not None
    assert arrow.mark.text == "✕ 2"


def test_marks_do_not_cover_each_other_or_an_agent() -> None:
    agents = names(9)
    drawing = draw(agents, [flow(*pair, 3, errors=1) for pair in combinations(agents, 2)])
    marks = [arrow.mark for arrow in drawing.arrows if arrow.mark is not None]

    assert len(marks) > len(agents)
    for one, other in combinations(marks, 2):
        assert abs(one.x - other.x) > (one.width + other.width) / 2 or abs(one.y - other.y) > 16
    for mark in marks:
        assert not any(
            abs(mark.x - node.x) < node.radius and abs(mark.y - node.y) < node.radius for node in drawing.nodes
        )


def test_with_too_many_agents_the_ends_of_the_strongest_flows_are_drawn_and_the_rest_is_counted() -> None:
    agents = names(200)
    calls = [flow(one, other, calls=1 + i) for i, (one, other) in enumerate(pairwise(agents))]
    drawing = draw(agents, calls)

    assert len(drawing.nodes) == MAX_AGENTS
    assert calls[-1].calls == drawing.most_calls
    assert drawing.chosen.agents_left_out == 200 - MAX_AGENTS
    assert drawing.chosen.calls_left_out == sum(each.calls for each in calls[: -MAX_AGENTS + 1])


def test_isolated_agents_beyond_the_limit_are_counted_rather_than_drawn() -> None:
    chosen = draw(names(MAX_AGENTS + 5), []).chosen

    assert (len(chosen.isolated), chosen.isolated_left_out) == (MAX_AGENTS, 5)
