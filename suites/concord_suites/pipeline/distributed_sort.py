"""Distributed sort: each seat's place in the sorted row of all numbers, of which each seat holds some."""

from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Kind, Neighbours
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

WEIGHT: Final = on_slip(
    Statement(
        "weight",
        "A crate of yours weighs {number:number} grams.",
        "You filled a crate of {number:number} grams.",
        "The scales show {number:number} grams for one of your crates.",
        "One of your crates has a weight of {number:number} grams.",
    ),
    Statement(
        "weight on a slip",
        "The weight of a crate of yours in grams stands on slip {slip:code}.",
        "You filled a crate whose grams slip {slip:code} gives.",
        "Slip {slip:code} came off the scales with one of your crates.",
        "One of your crates weighs as many grams as slip {slip:code} says.",
    ),
)
SOLD: Final = Statement(
    "sold crate",
    "A crate of {number:number} grams has been sold.",
    "Last autumn you had a crate of {number:number} grams.",
    "You gave a crate that weighed {number:number} grams to a neighbour.",
    "Somebody at another orchard has a crate of {number:number} grams.",
)
PLACE: Final = Statement(
    "place",
    "Your place in the row is {place:number}.",
    "You are asked about place {place:number} of the row.",
    "The place that you have to fill in is {place:number}.",
    "Your line of the list is for place {place:number}.",
)
QUESTION: Final = Statement(
    "question",
    "All crates that the seats have now are put in a row, the lightest at place 1. How many grams does the crate "
    "at your place weigh? Answer with the number.",
    "Sort the crates of all seats by weight, from the lightest at place 1 to the heaviest. Answer with the weight "
    "in grams of the crate at your place.",
    "Each seat has a place in the row of all crates, which begins with the lightest at place 1. What is the weight "
    "of the crate at your place? Answer with the number of grams.",
)


class DistributedSort(OneAnswerFamily):
    """Every seat has to say which of all numbers stands at a place of the sorted row."""

    name: ClassVar = "distributed-sort"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "the number at each seat's place of the sorted row of all numbers"
    openings: ClassVar = (
        "You pick apples in an orchard.",
        "The apple harvest is in.",
        "Your crates of apples stand in the barn.",
    )
    statements: ClassVar = (*grammar_of(WEIGHT), SOLD, PLACE, QUESTION)
    result: ClassVar = Kind.NUMBER

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Equally many numbers per seat, and for each seat the place of another seat's number: so chance is 0."""
        order = draw.shuffled(list(neighbours))
        weights = {seat: [fresh.number() for _ in range(1 + difficulty // 2)] for seat in order}
        row = sorted(weight for found in weights.values() for weight in found)
        asked = {seat: draw.choice(weights[other]) for seat, other in zip(order, [*order[1:], order[0]], strict=True)}
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    *(text for each in weights[seat] for text in WEIGHT.write(draw, fresh, difficulty, number=each)),
                    *(SOLD.write(draw, number=fresh.number()) for _ in range(2 * difficulty - 2)),
                    PLACE.write(draw, place=1 + row.index(asked[seat])),
                ]
                for seat in neighbours
            },
            facts=[
                Fact(f"crate of {each} grams", (seat,), number(each)) for seat in neighbours for each in weights[seat]
            ],
        )

    def solve(self, setting: Setting) -> Answers:
        """The number at each seat's place."""
        row = sorted(record.number("number") for _, record in WEIGHT.stated(setting))
        return {seat: row[record.number("place") - 1] for seat, record in setting.stated(PLACE.name)}
