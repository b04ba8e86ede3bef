"""AgentsNet (arXiv 2507.08616): distributed problems on a graph of seats that talk to their neighbours only."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import networkx as nx
from pydantic import JsonValue

from concord.suite import Answers, Draw, Grade, Group, Neighbours, Part
from concord_published.prose import PublishedFamily, chosen

BENCHMARK: Final = "agentsnet"

Answered = Mapping[str, str | None]
"""The option that each seat chose; None for none."""


@dataclass(frozen=True)
class GraphTask(PublishedFamily):
    """A problem on one of the published graphs. `edges`: between places of seats, counted from 0."""

    benchmark: ClassVar[str] = BENCHMARK
    group: ClassVar[Group] = Group.AGREE

    name: str
    summary: str
    problem: str
    size: int
    edges: tuple[tuple[int, int], ...]
    rounds: int

    @property
    def chance(self) -> float:
        """The benchmark states none. A convention that all seats share may do much without a message."""
        return 0.0

    def task(self) -> dict[str, Any]:
        """The task in a manifest, for a lone participant `agent`: the graph is the topology."""
        edges = [[f"agent/{one + 1}", f"agent/{other + 1}"] for one, other in self.edges]
        return {**super().task(), "topology": edges, "max_rounds": self.rounds + 1, "exchange": "rounds"}

    def question(self, seats: Sequence[str]) -> str:
        """The problem, and the form of an answer."""
        return f"{_PROBLEMS[self.problem].text.format(colours=self._colours())} There are {len(seats)} seats."

    def briefs(self, draw: Draw, seats: Sequence[str]) -> Mapping[str, str]:
        """Nothing but a seat's own name: all that it can learn of the graph, its neighbours tell."""
        del draw
        return {
            seat: f"Your name is {seat}. You know your neighbours, and nothing else of the network." for seat in seats
        }

    def parts(self, seats: Sequence[str]) -> Sequence[Part]:
        """The answers of all seats together are one part."""
        return [Part("team", seats[0], ())]

    def key(self, neighbours: Neighbours) -> JsonValue:
        """The problem and its graph."""
        linked: list[JsonValue] = [
            [seat, other] for seat, others in neighbours.items() for other in others if seat < other
        ]
        seats: list[JsonValue] = list(neighbours)
        return {"problem": self.problem, "seats": seats, "edges": linked, "colours": self._colours()}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """The benchmark's own score of all answers together, 0 to 1."""
        told: Mapping[str, Any] = key if isinstance(key, dict) else {}
        graph: nx.Graph[str] = nx.Graph()
        graph.add_nodes_from(told["seats"])
        graph.add_edges_from(told["edges"])
        problem = _PROBLEMS[told["problem"]]
        picked = {seat: chosen(answers.get(seat), problem.options(graph, seat, told)) for seat in graph}
        unreadable = tuple(seat for seat, pick in picked.items() if pick is None and answers.get(seat) is not None)
        return Grade({"team": problem.score(graph, picked)}, unreadable)

    def _colours(self) -> int:
        degrees = [0] * self.size
        for one, other in self.edges:
            degrees[one] += 1
            degrees[other] += 1
        return max(degrees, default=0) + 1


def tasks_on(row: Mapping[str, Any]) -> Iterator[GraphTask]:
    """The five problems on the graph of a row of the published data set. Raises KeyError, TypeError, ValueError."""
    stored = json.loads(row["graph"]) if isinstance(row["graph"], str) else row["graph"]
    document = stored.get("graph", stored)
    graph = nx.node_link_graph(document if "links" in document else stored, edges="links")
    if graph.number_of_nodes() < 2 or not nx.is_connected(graph):
        raise ValueError("a graph is not connected")
    place = {node: number for number, node in enumerate(graph)}
    ends = [(place[one], place[other]) for one, other in graph.edges if one != other]
    edges = tuple(sorted((min(pair), max(pair)) for pair in ends))
    label = f"{row['graph_generator']}-{graph.number_of_nodes()}-{row['index']}"
    across = 2 * nx.diameter(graph) + 1
    for problem, how in _PROBLEMS.items():
        # As the benchmark's code does: problems of the whole graph get time to cross it and return, others 4 rounds.
        rounds = across if how.is_global or graph.number_of_nodes() > LARGE else LOCAL_ROUNDS
        name = f"{BENCHMARK}-{problem}-{label}"
        yield GraphTask(name, f"{problem} on {label}", problem, graph.number_of_nodes(), edges, rounds)


LOCAL_ROUNDS: Final = 4
LARGE: Final = 16


@dataclass(frozen=True, slots=True)
class _Problem:
    text: str
    options: Callable[["nx.Graph[str]", str, Mapping[str, Any]], Sequence[str]]
    score: Callable[["nx.Graph[str]", Answered], float]
    is_global: bool = False


def _consensus(_graph: "nx.Graph[str]", answers: Answered) -> float:
    return float(None not in answers.values() and len(set(answers.values())) == 1)


def _leader(_graph: "nx.Graph[str]", answers: Answered) -> float:
    return float(None not in answers.values() and list(answers.values()).count("Yes") == 1)


def _matching(graph: "nx.Graph[str]", answers: Answered) -> float:
    """The share of seats that are consistent: partners name each other, and no two neighbours are both alone."""
    faults = 0
    for seat, partner in answers.items():
        if partner == NOBODY:
            faults += any(answers[other] == NOBODY for other in graph[seat])
        else:
            faults += partner is None or answers[partner] != seat
    return 1 - faults / len(answers)


def _colouring(graph: "nx.Graph[str]", answers: Answered) -> float:
    """The share of edges between different groups; 0 if a seat chose none."""
    if None in answers.values():
        return 0.0
    return sum(answers[one] != answers[other] for one, other in graph.edges) / graph.number_of_edges()


def _cover(graph: "nx.Graph[str]", answers: Answered) -> float:
    """The share of edges that a coordinator covers, times the share of coordinators that are needed.

    A coordinator is needed if some edge has none without it.
    """
    chosen_seats = {seat for seat, answer in answers.items() if answer == "Yes"}
    if not chosen_seats:
        return 0.0
    covered = sum(one in chosen_seats or other in chosen_seats for one, other in graph.edges)
    whole = _without(graph, chosen_seats)
    return covered / graph.number_of_edges() * sum(map(whole, chosen_seats)) / len(chosen_seats)


def _without(graph: "nx.Graph[str]", seats: set[str]) -> Callable[[str], bool]:
    """Whether the cover is not whole without a seat."""
    return lambda left: not all(bool({one, other} & (seats - {left})) for one, other in graph.edges)


NOBODY: Final = "None"

_YES: Final = ("Yes", "No")

_PROBLEMS: Final[Mapping[str, _Problem]] = {
    "consensus": _Problem(
        "Agree on a single value with all other seats: 0 or 1. Every seat answers with the value, as a text.",
        lambda *_: ("0", "1"),
        _consensus,
        is_global=True,
    ),
    "leader-election": _Problem(
        "Elect a single leader. Every seat answers whether it is the leader, Yes or No. Exactly one may say Yes.",
        lambda *_: _YES,
        _leader,
        is_global=True,
    ),
    "matching": _Problem(
        "Build groups of two seats that are neighbours. Every seat answers with the name of the neighbour that it "
        "builds a group with, or None if all its neighbours are in groups with others. Members of a group must name "
        "each other.",
        lambda graph, seat, _: (*graph[seat], NOBODY),
        _matching,
    ),
    "colouring": _Problem(
        "Assign yourselves to groups, so that neighbours are never in the same one. There are exactly {colours} "
        "groups, Group 1 to Group {colours}. Every seat answers with its group.",
        lambda _graph, _seat, told: tuple(f"Group {number}" for number in range(1, told["colours"] + 1)),
        _colouring,
    ),
    "vertex-cover": _Problem(
        "Select a group of coordinators, so that of two neighbours at least one is a coordinator, and every "
        "coordinator has at least one neighbour who is none. Every seat answers whether it is a coordinator, Yes or "
        "No.",
        lambda *_: _YES,
        _cover,
    ),
}
