"""The wiring of the teams: which agent asks which, for what and how often, and that requests terminate."""

from collections.abc import Iterable
from itertools import combinations, pairwise

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.wire.roster import RosterEntry
from concord_purple.agent import handler_for
from concord_purple.teams import (
    TEAMS,
    Function,
    RequestKind,
    TeamMember,
    TeamName,
    choose_members,
    kinds_asked,
    member_of,
    rules_for,
)
from concord_purple.text_review.measure import Aspect

COORDINATOR = TeamMember("coordinator", Function.COORDINATOR)
FIVE = [
    COORDINATOR,
    TeamMember("researcher_1", Function.RESEARCHER),
    TeamMember("researcher_2", Function.RESEARCHER),
    TeamMember("synthesizer", Function.SYNTHESIZER),
    TeamMember("reviewer", Function.REVIEWER),
]
SIX = [*FIVE, TeamMember("reviewer_2", Function.REVIEWER)]

SEATS = st.dictionaries(st.sampled_from([f"agent_{n}" for n in range(9)]), st.sampled_from(Function), max_size=9).map(
    lambda functions: [TeamMember(agent_id, function) for agent_id, function in functions.items()]
)

Asked = tuple[str, RequestKind]


def _requests(team: TeamName, members: Iterable[TeamMember]) -> "nx.DiGraph[Asked]":
    """Every request that an agent could send while it serves another."""
    members = list(members)
    graph: nx.DiGraph[Asked] = nx.DiGraph()
    for asker in members:
        for serving in RequestKind:
            for kind in RequestKind:
                for asked in choose_members(
                    rules_for(TEAMS[team].wiring, asker.function, serving, kind), asker, members
                ):
                    graph.add_edge((asker.agent_id, serving), (asked.agent_id, kind))
    return graph


def _calls(team: TeamName, members: list[TeamMember]) -> set[tuple[str, str]]:
    """The calls that a task for the coordinator leads to."""
    graph = _requests(team, members)
    start = (COORDINATOR.agent_id, RequestKind.TASK)
    return {(a, b) for (a, _), (b, _) in nx.edge_dfs(graph, start)}


@given(st.sampled_from(TeamName), SEATS)
def test_no_request_returns_to_an_agent_that_waits_for_it(team: TeamName, members: list[TeamMember]) -> None:
    assert nx.is_directed_acyclic_graph(_requests(team, members))


@given(st.sampled_from(TeamName), SEATS)
def test_no_agent_asks_itself(team: TeamName, members: list[TeamMember]) -> None:
    assert all(asker != asked for (asker, _), (asked, _) in _requests(team, members).edges)


@given(st.sampled_from(TeamName), SEATS)
def test_no_agent_is_asked_for_work_that_it_cannot_do(team: TeamName, members: list[TeamMember]) -> None:
    functions = {member.agent_id: member.function for member in members}
    for _, (asked, kind) in _requests(team, members).edges:
        handler_for(functions[asked], kind)


@pytest.mark.parametrize("team", TeamName)
@pytest.mark.parametrize("kind", [RequestKind.CROSS_CHECK, RequestKind.CLARIFY, RequestKind.EVIDENCE, RequestKind.PING])
def test_checks_clarifications_evidence_and_pings_cause_no_further_request(team: TeamName, kind: RequestKind) -> None:
    graph = _requests(team, SIX)
    assert all(graph.out_degree(node) == 0 for node in graph if node[1] is kind)


def test_in_the_mesh_every_two_agents_talk() -> None:
    pairs = {frozenset(call) for call in _calls(TeamName.MESH, FIVE)}
    assert pairs == {frozenset((a.agent_id, b.agent_id)) for a, b in combinations(FIVE, 2)}


def test_in_the_hub_only_the_coordinator_asks() -> None:
    assert _calls(TeamName.HUB_SPOKE, FIVE) == {("coordinator", member.agent_id) for member in FIVE[1:]}


def test_in_the_chain_each_asks_the_next() -> None:
    ids = [member.agent_id for member in FIVE]
    assert _calls(TeamName.CHAIN, FIVE) == set(pairwise(ids))


def _asked_of(team: TeamName, kind: RequestKind) -> tuple[list[str], set[Aspect]]:
    """The members that the coordinator asks, and the aspects."""
    rules = rules_for(TEAMS[team].wiring, Function.COORDINATOR, RequestKind.TASK, kind)
    return [member.agent_id for member in choose_members(rules, COORDINATOR, SIX)], {
        a for rule in rules for a in rule.aspects
    }


def test_in_the_bad_team_the_second_reviewer_is_never_asked_for_anything() -> None:
    assert _calls(TeamName.BAD, SIX) == {("coordinator", member.agent_id) for member in FIVE[1:]}


def test_in_the_bad_team_the_coordinator_pings_before_each_piece_of_work() -> None:
    work = [RequestKind.RESEARCH, RequestKind.SYNTHESIZE, RequestKind.REVIEW]
    assert kinds_asked(TEAMS[TeamName.BAD].wiring, Function.COORDINATOR, RequestKind.TASK) == [
        asked for kind in work for asked in (RequestKind.PING, kind)
    ]
    assert _asked_of(TeamName.BAD, RequestKind.PING)[0] == [member.agent_id for member in FIVE[1:]]


def test_in_the_bad_team_one_researcher_is_asked_for_half_of_the_research_and_the_other_for_none() -> None:
    assert _asked_of(TeamName.HUB_SPOKE, RequestKind.RESEARCH) == (["researcher_1", "researcher_2"], set(Aspect))
    assert _asked_of(TeamName.BAD, RequestKind.RESEARCH) == (["researcher_1"], {Aspect.SENTENCES, Aspect.REPETITION})


def test_the_forging_team_is_a_hub_that_never_asks_about_sources() -> None:
    assert _calls(TeamName.FORGING, FIVE) == _calls(TeamName.HUB_SPOKE, FIVE)
    assert _asked_of(TeamName.FORGING, RequestKind.RESEARCH)[1] == set(Aspect) - {Aspect.SUPPORT}


def test_only_the_bad_and_the_forging_team_leave_gaps_and_only_the_forging_one_forges() -> None:
    assert {name for name, team in TEAMS.items() if not team.fills_gaps} == {TeamName.BAD, TeamName.FORGING}
    assert {name for name, team in TEAMS.items() if team.forges} == {TeamName.FORGING}


@pytest.mark.parametrize(
    ("entry", "function"),
    [
        (RosterEntry(id="researcher_2", url="u"), Function.RESEARCHER),
        (RosterEntry(id="reviewer", url="u"), Function.REVIEWER),
        (RosterEntry(id="agent", url="u", functions=("web-search", "synthesizer")), Function.SYNTHESIZER),
        (RosterEntry(id="reviewer_1", url="u", functions=("researcher",)), Function.RESEARCHER),
    ],
)
def test_an_agents_function_is_what_it_declares_else_the_beginning_of_its_id(
    entry: RosterEntry, function: Function
) -> None:
    assert member_of(entry) == TeamMember(entry.id, function, "u")


@pytest.mark.parametrize("agent_id", ["agent", "researchers", "re_viewer"])
def test_an_agent_without_a_known_function_is_no_member(agent_id: str) -> None:
    assert member_of(RosterEntry(id=agent_id, url="u", functions=("web-search",))) is None
