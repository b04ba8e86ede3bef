"""Logic grid: who has which plot, from clues of which only several together say anything about one person."""

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from statistics import fmean
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip, setting_of
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import drawn_pair

FEWEST_TRIPLES: Final = 8
MOST_TRIPLES: Final = 13
"""Three people each. More plots would make the question long."""

CLUE: Final = on_slip(
    Statement(
        "clue",
        "The plots of {a:name} and {b:name} are {number:number} apart.",
        "Between the numbers of the plots of {a:name} and {b:name} lies a difference of {number:number}.",
        "{a:name} and {b:name} have plots whose numbers differ by {number:number}.",
        "You heard that {number:number} separates the plot of {a:name} from that of {b:name}.",
    ),
    Statement(
        "clue on a slip",
        "The plots of {a:name} and {b:name} are as far apart as slip {slip:code} says.",
        "Between the numbers of the plots of {a:name} and {b:name} lies the difference on slip {slip:code}.",
        "{a:name} and {b:name} have plots whose numbers differ by what slip {slip:code} says.",
        "You heard that the number on slip {slip:code} separates the plot of {a:name} from that of {b:name}.",
    ),
)
FORMER: Final = Statement(
    "former plots",
    "Last year, the plots of {a:name} and {b:name} were {number:number} apart.",
    "There used to be a difference of {number:number} between the plots of {a:name} and {b:name}.",
    "At another allotment, {number:number} separates a {a:name} from a {b:name}.",
    "It is wrong that the plots of {a:name} and {b:name} differ by {number:number}.",
)
WANTED: Final = Statement(
    "wanted",
    "You want to visit {person:name}.",
    "You bring a parcel to {person:name}.",
    "You are on your way to {person:name}.",
    "You return a spade to {person:name}.",
)
PLOT: Final = Statement(
    "plot",
    "There is a plot {number:number}.",
    "One plot is {number:number}.",
    "Plot {number:number} exists.",
    "A plot is {number:number}.",
)
_RULE: Final = (
    "Each person has one plot, and each plot belongs to one person. Numbers are as far apart as the larger less the "
    "smaller."
)
QUESTION: Final = Statement(
    "question",
    f"Who has which plot of the allotment? {_RULE} Answer with the number of the plot of the person that your "
    "brief sends you to.",
    f"Find the plot of the person in the allotment that your brief sends you to. {_RULE} Answer with its number.",
    f"Which plot of the allotment has the person that your brief sends you to? {_RULE} Answer with its number.",
)


class LogicGrid(OneAnswerFamily):
    """Every seat has to find one person's plot, from a clue that leaves two plots and another that decides."""

    name: ClassVar = "logic-grid"
    group: ClassVar = Group.ALL_TO_ALL
    summary: ClassVar = "which plot each seat's person has, from clues that leave several until they are combined"
    openings: ClassVar = (
        "You have a plot in an allotment.",
        "The allotment is full of people on a sunny day.",
        "You walk through an allotment without a map.",
    )
    statements: ClassVar = (*grammar_of(CLUE), FORMER, WANTED, PLOT, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """People in threes, with two clues for each three, at different seats. Large teams have clues in common.

        No two pairs of plots are equally far apart, so a clue leaves two plots for each of its people, and both clues
        decide. A seat's person is in none of its own clues: so a silent seat can only name one of the plots that its
        clues do not take, which are all equally likely. `chance` is the mean over the seats of one in so many plots.
        """
        order = draw.shuffled(list(neighbours))
        many = min(MOST_TRIPLES, max(FEWEST_TRIPLES, (len(order) + 1) // 2))
        many += many % len(order) == 0  # else both clues of three people would be at one seat
        plots = draw.shuffled(_plots(draw, 3 * many))
        people = [fresh.name() for _ in plots]
        plot_of = dict(zip(people, plots, strict=True))
        pairs = [(people[at], people[at + many]) for at in range(2 * many)]
        clues = [fresh.number(apart, apart) for apart in (abs(plot_of[a] - plot_of[b]) for a, b in pairs)]
        own: dict[str, set[str]] = {seat: set() for seat in neighbours}
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = []
        for at, ((a, b), apart) in enumerate(zip(pairs, clues, strict=True)):
            holders = order[at :: len(pairs)] or [order[at % len(order)]]
            for seat in holders:
                own[seat] |= {a, b}
                sentences[seat] += CLUE.write(draw, fresh, difficulty, number=apart, a=a, b=b)
            facts.append(Fact(f"clue to {a} and {b}", tuple(holders), number(apart)))
        for seat in neighbours:
            wanted = draw.choice([person for person in people if person not in own[seat]])
            sentences[seat].append(WANTED.write(draw, person=wanted))
            for _ in range(2 * difficulty - 2):
                a, b = drawn_pair(draw, people)
                sentences[seat].append(FORMER.write(draw, a=a, b=b, number=fresh.number(10_000, 800_000)))
        return Drawn(
            question=" ".join([QUESTION.write(draw), *(PLOT.write(draw, number=plot) for plot in sorted(plots))]),
            sentences=sentences,
            facts=facts,
            chance=fmean(1 / (len(plots) - len(own[seat])) for seat in neighbours),
        )

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A plot follows from both clues to the person's three."""
        needs = dict[str, list[str]]()
        for first, second in _twins(drawn.facts):
            for person in {*_people(first), *_people(second)}:
                needs[person] = [first.id, second.id]
        parts = []
        for seat in neighbours:
            [(_, _, wanted)] = WANTED.read(" ".join(drawn.sentences[seat]))
            parts.append(Part(seat, seat, tuple(needs[wanted["person"]])))
        return parts

    def solve(self, setting: Setting) -> Answers:
        """The plots of the seats' people, as far as they follow."""
        plots = _assignment(setting)
        wanted = {seat: record["person"] for seat, record in setting.stated(WANTED.name)}
        return {seat: plots[wanted[seat]] for seat in setting.neighbours if wanted.get(seat) in plots}

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The plot of a person stands for both clues to the person's three, once both are known."""
        ids, plots = {fact.id for fact in known}, _assignment(setting_of(self, task))
        return {
            number(plots[person]): frozenset({first.id, second.id})
            for first, second in _twins(task.facts)
            if {first.id, second.id} <= ids
            for person in sorted({*_people(first), *_people(second)})
        }


def _plots(draw: Draw, many: int) -> list[int]:
    """Numbers of six digits, at least 10,000 apart from each other. No two pairs of them are equally far apart."""
    space = 899_999 // many
    plots, apart = list[int](), set[int]()
    while len(plots) < many:
        plot = 100_000 + space * len(plots) + draw.below(space - 10_000)
        new = {plot - other for other in plots}
        if apart.isdisjoint(new):
            plots.append(plot)
            apart |= new
    return plots


def _twins(facts: Sequence[Fact]) -> list[tuple[Fact, Fact]]:
    """The two clues to each three people."""
    half = len(facts) // 2
    return list(zip(facts[:half], facts[half:], strict=True))


def _people(clue: Fact) -> list[str]:
    return clue.id.removeprefix("clue to ").split(" and ")


def _assignment(setting: Setting) -> dict[str, int]:
    """The plot of each person for whom only one is left."""
    plots = [record.number("number") for record in setting.each_asked(PLOT.name)]
    pairs = {abs(a - b): {a, b} for a, b in combinations(plots, 2)}
    clues = [
        (record["a"], record["b"], pairs[record.number("number")])
        for _, record in CLUE.stated(setting)
        if record.number("number") in pairs
    ]
    left: dict[str, set[int]] = {}
    for person, pair in [(person, pair) for a, b, pair in clues for person in (a, b)]:
        left[person] = left.get(person, pair) & pair
    for a, b, _ in clues:
        for one, other in ((a, b), (b, a)):
            if len(left[one]) == 1:
                left[other] = left[other] - left[one]
    return {person: min(found) for person, found in left.items() if len(found) == 1}
