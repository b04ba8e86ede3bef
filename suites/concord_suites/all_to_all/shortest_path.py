"""Shortest path: the shortest way between two places, over tunnels whose lengths different seats know."""

import heapq
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Kind, Neighbours, SuiteTask, Value
from concord.suite.value import number
from concord_suites.answers import UnreadableError, as_list, as_mapping, read_each, states_number
from concord_suites.family import Drawn, Setting, TextFamily, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

TUNNEL: Final = on_slip(
    Statement(
        "tunnel",
        "The tunnel between {a:name} and {b:name} is {number:number} feet long.",
        "From {a:name} you crawl {number:number} feet to {b:name}.",
        "{number:number} feet of tunnel join {a:name} and {b:name}.",
        "You measured {number:number} feet from {a:name} to {b:name}.",
    ),
    Statement(
        "tunnel on a slip",
        "The tunnel between {a:name} and {b:name} is as many feet long as slip {slip:code} says.",
        "From {a:name} you crawl the feet on slip {slip:code} to {b:name}.",
        "The tunnel of slip {slip:code} joins {a:name} and {b:name}.",
        "You measured the feet on slip {slip:code} from {a:name} to {b:name}.",
    ),
)
FLOODED: Final = Statement(
    "flooded tunnel",
    "A tunnel of {number:number} feet between {a:name} and {b:name} is flooded.",
    "Rocks block the {number:number} feet that once led from {a:name} to {b:name}.",
    "A legend tells of a way from {a:name} to {b:name} of only {number:number} feet.",
    "The tunnel that led from {a:name} to {b:name} in {number:number} feet has caved in.",
)
_FORM: Final = (
    'Answer with a JSON object: "length" is the sum of the feet, and "places" is the list of all caves on the way in '
    "order, from {start:name} to {goal:name}, both included."
)
QUESTION: Final = Statement(
    "question",
    f"Which way through the tunnels is the shortest? Tunnels can be used in both directions. {_FORM}",
    f"Find the shortest way through the tunnels, which lead in both directions. {_FORM}",
    f"What is the shortest way from cave to cave? All tunnels can be used in both directions. {_FORM}",
)


class ShortestPath(TextFamily):
    """Every seat has to find the same shortest path in a graph whose edges all seats know together."""

    name: ClassVar = "shortest-path"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "the shortest way between two places, over tunnels that different seats have measured"
    openings: ClassVar = (
        "You explore caves.",
        "Your club maps a system of caves.",
        "You came back from the caves with muddy boots.",
    )
    statements: ClassVar = (*grammar_of(TUNNEL), FLOODED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """A piece of the shortest way at each seat, and tunnels that are detours.

        Each cave has a height; a tunnel on the shortest way is as long as its ends differ in height, and any other is
        longer: so no other way between the ends is as short. Chance is 0: no seat's brief and question together name
        all caves of the way, and no seat knows all lengths.
        """
        order = draw.shuffled(list(neighbours))
        piece = 1 if len(order) > 3 else 2
        way = [fresh.name() for _ in range(piece * len(order) + 1)]
        heights, sentences, facts = {way[0]: 0}, dict[str, list[str]](), []
        for at, seat in enumerate(order):
            own = way[at * piece : (at + 1) * piece + 1]
            sentences[seat] = []
            for a, b in pairwise(own):
                length = fresh.number(10_000, 20_000 + 10 * len(order))
                heights[b] = heights[a] + length
                sentences[seat] += TUNNEL.write(draw, fresh, difficulty, number=length, **_ends(draw, a, b))
                facts.append(Fact(f"tunnel from {a} to {b}", (seat,), number(length)))
        aside = [fresh.name() for _ in range(len(order) + 2)]
        heights |= {place: draw.below(heights[way[-1]]) for place in aside}
        dug = list[set[str]]()
        for at, seat in enumerate(order):
            own = way[at * piece : (at + 1) * piece + 1]
            for _ in range(1 + difficulty):
                a, b = draw.choice([*own, *aside]), draw.choice(aside)
                if a == b or {a, b} in dug:
                    continue
                dug.append({a, b})
                shortest = max(10_000, abs(heights[a] - heights[b]) + 500)
                length = fresh.number(shortest, shortest + 20_000)
                sentences[seat] += TUNNEL.write(draw, fresh, difficulty, number=length, **_ends(draw, a, b))
            for _ in range(difficulty - 1):
                ends = _ends(draw, draw.choice(own), draw.choice(aside))
                sentences[seat].append(FLOODED.write(draw, number=fresh.number(), **ends))
        return Drawn(QUESTION.write(draw, start=way[0], goal=way[-1]), sentences, facts)

    def solve(self, setting: Setting) -> Answers:
        """The shortest way, by Dijkstra's algorithm."""
        tunnels: dict[str, list[tuple[str, int]]] = {}
        for _, record in TUNNEL.stated(setting):
            for here, there in ((record["a"], record["b"]), (record["b"], record["a"])):
                tunnels.setdefault(here, []).append((there, record.number("number")))
        question = setting.asked(QUESTION.name)
        length, places = _shortest(tunnels, question["start"], question["goal"])
        return {seat: {"length": length, "places": list[JsonValue](places)} for seat in setting.answerers}

    def key(self, setting: Setting) -> JsonValue:
        """The seats, and the only right answer."""
        answers = self.solve(setting)
        return {"seats": list(answers), "right": next(iter(answers.values()))}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """For each seat, a half for the length and a half for the list of places."""
        fields = key if isinstance(key, dict) else {}
        seats, right = fields.get("seats"), fields.get("right")
        if not isinstance(seats, list) or not isinstance(right, dict):
            return Grade({})
        parts = dict.fromkeys(map(str, seats), 0.0)
        objects, unreadable = read_each(answers, parts, as_mapping)
        for seat, given in objects.items():
            parts[seat] = (states_number(given.get("length"), right["length"]) + _is_way(given, right)) / 2
        return Grade(parts, unreadable)

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The tunnels of a stretch of the shortest way follow from its length and the names of all its places."""
        lengths = {value for value in stated if value.kind is Kind.NUMBER} - {fact.value for fact in task.facts}
        names, ids = {value.text for value in stated} if lengths else set[str](), {fact.id for fact in known}
        found = set[str]()
        for first in range(len(task.facts) if lengths else 0):
            stretch = list(takewhile(lambda fact: fact.id in ids and _ends_of(fact) <= names, task.facts[first:]))
            for last in range(2, len(stretch) + 1):
                if number(sum(int(fact.value.text) for fact in stretch[:last])) in lengths:
                    found |= {fact.id for fact in stretch[:last]}
        return frozenset(found)


def _ends_of(tunnel: Fact) -> set[str]:
    """The names of a tunnel's ends, as `implied` gets words."""
    return set(tunnel.id.removeprefix("tunnel from ").casefold().split(" to "))


def _ends(draw: Draw, a: str, b: str) -> dict[str, str]:
    """Two places as the ends of a tunnel, in a random order."""
    return {"a": a, "b": b} if draw.chance(0.5) else {"a": b, "b": a}


def _is_way(given: Mapping[str, JsonValue], right: Mapping[str, JsonValue]) -> bool:
    try:
        return [each.casefold() for each in as_list(given.get("places"))] == [
            each.casefold() for each in as_list(right["places"])
        ]
    except UnreadableError:
        return False


def _shortest(tunnels: Mapping[str, Sequence[tuple[str, int]]], start: str, goal: str) -> tuple[int, list[str]]:
    """The length and the places of the shortest way. Raises LookupError if there is none."""
    done, queue = set[str](), [(0, [start])]
    while queue:
        length, way = heapq.heappop(queue)
        if way[-1] == goal:
            return length, way
        if way[-1] not in done:
            done.add(way[-1])
            for other, more in tunnels.get(way[-1], ()):
                heapq.heappush(queue, (length + more, [*way, other]))
    raise LookupError(f"no way leads from {start} to {goal}")
