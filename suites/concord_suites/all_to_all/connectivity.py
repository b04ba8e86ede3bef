"""Connectivity: which of several stations each seat's village can reach by roads that different seats know."""

from collections.abc import Collection, Mapping, Sequence
from itertools import cycle
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import code, word
from concord_suites.answers import as_code
from concord_suites.family import Drawn, OneAnswerFamily, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import drawn_pair

STATES: Final = ("open", "closed")
ROAD: Final = ReferableStatement(
    Statement(
        "road",
        "Road {road:code} between {a:name} and {b:name} is {state:word}.",
        "Between {a:name} and {b:name} runs road {road:code}, which is {state:word}.",
        "{a:name} and {b:name} are joined by road {road:code}, which is {state:word}.",
        "You saw that road {road:code} from {a:name} to {b:name} is {state:word}.",
    ),
    Statement(
        "ends of a road",
        "Road {road:code} joins {a:name} and {b:name}.",
        "From {a:name} to {b:name} leads road {road:code}.",
        "The ends of road {road:code} are {a:name} and {b:name}.",
        "You get from {a:name} to {b:name} on road {road:code}.",
    ),
    Statement(
        "state of a road",
        "Road {road:code} is {state:word}.",
        "You found that road {road:code} is {state:word} now.",
        "The state of road {road:code} is {state:word}.",
        "A sign says that road {road:code} is {state:word} today.",
    ),
)
PLANNED: Final = Statement(
    "planned road",
    "A road from {a:name} to {b:name} is planned.",
    "A bridge between {a:name} and {b:name} was never built.",
    "Long ago, you could walk from {a:name} to {b:name}, but the path is gone.",
    "There is talk of a tunnel from {a:name} to {b:name}.",
)
STATION: Final = Statement(
    "station",
    "The lifeboat station of {place:name} has the call sign {sign:code}.",
    "There is a lifeboat station in {place:name}, with the call sign {sign:code}.",
    "Call sign {sign:code} is that of the lifeboat station in {place:name}.",
    "In {place:name}, a lifeboat station answers to {sign:code}.",
)
HOME: Final = Statement(
    "home",
    "You live in {place:name}.",
    "Your village is {place:name}.",
    "The storm caught you at home in {place:name}.",
    "You are in your house in {place:name}.",
)
_RULE: Final = (
    "From the village of each seat, exactly one village with a lifeboat station can be reached by open roads. Roads "
    "can be used in both directions."
)
QUESTION: Final = Statement(
    "question",
    f"A storm has closed some roads. {_RULE} Which station can you reach? Answer with its call sign.",
    f"What is the call sign of the lifeboat station that you can reach after the storm? {_RULE} Answer with it.",
    f"Find the lifeboat station that can be reached from your village. {_RULE} Answer with its call sign.",
)


class Connectivity(OneAnswerFamily):
    """Every seat has to find the only station in its component of a graph whose edges all seats know together."""

    name: ClassVar = "connectivity"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "the only station that each seat's village can reach by roads that other seats know"
    openings: ClassVar = (
        "You live on a stormy coast.",
        "Last night, a storm passed over the coast.",
        "The radio is the only thing that works.",
    )
    statements: ClassVar = (*grammar_of(ROAD), PLANNED, STATION, HOME, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """A random tree of open roads around each station; closed roads lead from tree to tree.

        Chance is 0: no seat's brief states the call sign that it has to name.
        """
        order = draw.shuffled(list(neighbours))
        many = max(2, (len(order) + 2) // 4)
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts, roads, parents, needed = [], list[tuple[str, str, str]](), dict[str, str](), set[str]()
        for dwellers in [order[at::many] for at in range(many)]:
            tree = [fresh.name() for _ in range(len(dwellers) + 2 + difficulty // 2)]
            parents |= {place: draw.choice(tree[:at]) for at, place in enumerate(tree) if at}
            roads += [(place, parents[place], "open") for place in tree[1:]]
            for seat, home in zip(dwellers, draw.sample(tree[1:], len(dwellers)), strict=True):
                sentences[seat].append(HOME.write(draw, place=home))
                needed |= set(_way(home, parents))
            keeper, sign = draw.choice([seat for seat in order if seat not in dwellers]), fresh.code()
            sentences[keeper].append(STATION.write(draw, place=tree[0], sign=sign))
            facts.append(Fact(f"station of {tree[0]}", (keeper,), code(sign)))
        places = [*parents, *sorted(set(parents.values()) - set(parents))]
        roads += [(*drawn_pair(draw, places), "closed") for _ in range(difficulty * len(order) // 2)]
        for seat, (a, b, state) in zip(cycle(order), draw.shuffled(roads), strict=False):
            road = fresh.code()
            sentences[seat] += ROAD.write(draw, fresh, difficulty, road=road, a=a, b=b, state=state)
            if state == "open" and a in needed:
                domain = tuple(map(word, STATES))
                facts.append(Fact(f"road from {a} to {b}", (seat,), word(state), code(road), domain))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                a, b = drawn_pair(draw, places)
                sentences[seat].append(PLANNED.write(draw, a=a, b=b))
        return Drawn(QUESTION.write(draw), sentences, facts)

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's answer follows from the roads on its way to the station, and from the station's call sign."""
        parents = dict(fact.id.split()[2::2] for fact in drawn.facts if fact.id.startswith("road"))
        parts = []
        for seat in neighbours:
            [(_, _, home)] = HOME.read(" ".join(drawn.sentences[seat]))
            way = _way(home["place"], parents)
            roads = [f"road from {place} to {parents[place]}" for place in way]
            parts.append(Part(seat, seat, (*roads, f"station of {parents[way[-1]]}")))
        return parts

    def solve(self, setting: Setting) -> Answers:
        """The call sign of the station in the component of each seat's village, by breadth-first search."""
        open_codes = {record["road"] for _, record in setting.stated(ROAD.definition.name) if record["state"] == "open"}
        roads = [record for _, record in setting.stated(ROAD.direct.name) if record["state"] == "open"]
        roads += [record for _, record in setting.stated(ROAD.by_reference.name) if record["road"] in open_codes]
        joined: dict[str, list[str]] = {}
        for record in roads:
            joined.setdefault(record["a"], []).append(record["b"])
            joined.setdefault(record["b"], []).append(record["a"])
        signs: dict[str, JsonValue] = {}
        for _, station in setting.stated(STATION.name):
            signs |= dict.fromkeys(_reachable(station["place"], joined), station["sign"])
        homes = {seat: record["place"] for seat, record in setting.stated(HOME.name)}
        return {seat: signs[homes[seat]] for seat in setting.neighbours if homes.get(seat) in signs}

    def read_answer(self, answer: JsonValue) -> JsonValue:
        """A call sign."""
        return as_code(answer)

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """The roads from a place to a station follow from the place and the call sign, with no other place but the
        station's."""
        stations = {fact.id.removeprefix("station of "): fact for fact in task.facts if fact.anchor is None}
        parents = dict(fact.id.split()[2::2] for fact in task.facts if fact.anchor is not None)
        signs = {place: fact for place, fact in stations.items() if fact.value in stated}
        named = {place for place in {*parents, *stations} if word(place.casefold()) in stated} if signs else set[str]()
        ids, found = {fact.id for fact in known}, set[str]()
        for home in named & set(parents):
            way = _way(home, parents)
            root = parents[way[-1]]
            needs = {*(f"road from {place} to {parents[place]}" for place in way), f"station of {root}"}
            if root in signs and named <= {home, root} and needs <= ids:
                found |= needs
        return frozenset(found)


def _way(home: str, parents: Mapping[str, str]) -> list[str]:
    """The places from `home` to the root of its tree, without the root."""
    way = [home]
    while (parent := parents[way[-1]]) in parents:
        way.append(parent)
    return way


def _reachable(start: str, joined: Mapping[str, Sequence[str]]) -> list[str]:
    found = [start]
    for place in found:
        found += [other for other in dict.fromkeys(joined.get(place, ())) if other not in found]
    return found
