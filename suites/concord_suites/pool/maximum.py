"""Maximum: the highest of all seats' readings."""

from collections.abc import Collection, Mapping
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting
from concord_suites.grammar import Fresh, Statement

READING: Final = Statement(
    "reading",
    "The counter at your gate shows {reading:number}.",
    "At your gate, the counter stands at {reading:number}.",
    "You read {reading:number} off the counter at your gate.",
    "{reading:number} is what the counter at your gate says.",
)
OLD: Final = Statement(
    "old reading",
    "Last month the counter showed {reading:number}.",
    "An old entry in the book says {reading:number}.",
    "Before the repair, the counter stood at {reading:number}.",
    "A counter of a gate that was closed showed {reading:number}.",
)
QUESTION: Final = Statement(
    "question",
    "What is the highest number that the counter of any gate shows now? Answer with the number.",
    "Each seat keeps a gate with a counter. Which reading is the highest now? Answer with that number.",
    "Find the highest current reading of all gates, and answer with the number.",
)


class Maximum(OneAnswerFamily):
    """One seat has to name the highest of the current readings, of which each seat has one."""

    name: ClassVar = "maximum"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the highest of one reading per seat"
    openings: ClassVar = (
        "You keep a gate of a large park.",
        "You are the keeper of one gate.",
        "Your post is a gate of the park.",
    )
    statements: ClassVar = (READING, OLD, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """One reading per seat, old readings as noise. The answerer's own is never the highest: chance is 0."""
        readings = sorted(fresh.number() for _ in neighbours)
        answerer = draw.choice(list(neighbours))
        others = draw.shuffled([seat for seat in neighbours if seat != answerer])
        owner = dict(zip(draw.shuffled([answerer, *others[1:]]), readings, strict=False)) | {others[0]: readings[-1]}
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    READING.write(draw, reading=owner[seat]),
                    *(OLD.write(draw, reading=fresh.number()) for _ in range(difficulty - 1)),
                ]
                for seat in neighbours
            },
            facts=[Fact(f"reading of {seat}", (seat,), number(owner[seat])) for seat in neighbours],
            answerer=answerer,
        )

    def solve(self, setting: Setting) -> Answers:
        """The maximum."""
        highest = max(record.number("reading") for _, record in setting.stated(READING.name))
        return dict.fromkeys(setting.answerers, highest)

    def partial_results(self, _task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The highest reading so far stands for all that are known."""
        if not known:
            return {}
        highest = max(known, key=lambda fact: int(fact.value.text))
        return {highest.value: frozenset(fact.id for fact in known)}
