"""Median: the middle one of all trees' harvests."""

from statistics import median
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Kind, Neighbours
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement
from concord_suites.shared_draws import dealt

HARVEST: Final = on_slip(
    Statement(
        "harvest",
        "A tree of yours gave {value:number} grams of pears.",
        "You weighed {value:number} grams of pears from one tree.",
        "{value:number} grams of pears came from one of your trees.",
        "From a tree in your row you picked {value:number} grams of pears.",
    ),
    Statement(
        "harvest with a slip",
        "A tree of yours gave as many grams of pears as slip {slip:code} says.",
        "For the grams of pears from one of your trees, see slip {slip:code}.",
        "You weighed the pears of one tree, and put the grams on slip {slip:code}.",
        "Slip {slip:code} gives the grams of pears that you picked from one tree.",
    ),
)
OTHER: Final = Statement(
    "other harvest",
    "Last year a tree gave {value:number} grams of pears.",
    "An apple tree gave {value:number} grams of apples.",
    "You had hoped for {value:number} grams of pears from one tree.",
    "The old orchard's best tree gave {value:number} grams of pears.",
)
QUESTION: Final = Statement(
    "question",
    "Sort this year's harvests of all pear trees of all seats by weight. How many grams does the one in the middle "
    "weigh? The number of trees is odd. Answer with the number.",
    "What is the median of this year's harvests of all your pear trees, in grams? The number of trees is odd. "
    "Answer with the number.",
    "The number of pear trees in the orchard is odd. Which harvest of this year has as many harvests above it as "
    "below it, over the trees of all seats? Answer with its grams.",
)


class Median(OneAnswerFamily):
    """One seat has to name the middle one of an odd number of weights."""

    name: ClassVar = "median"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the middle one of all trees' harvests"
    openings: ClassVar = (
        "You tend a row of pear trees.",
        "One row of the orchard is yours.",
        "You pick pears in a large orchard.",
    )
    statements: ClassVar = (*grammar_of(HARVEST), OTHER, QUESTION)
    result: ClassVar = Kind.NUMBER

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """An odd number of harvests, at least one per seat.

        Chance is 0: the median is never the answerer's, and no number of six digits can be guessed.
        """
        answerer, seats = draw.choice(list(neighbours)), list(neighbours)
        trees = 1 + difficulty // 2
        total = trees * len(seats) + 1 - trees * len(seats) % 2
        harvests = sorted(fresh.number(100_000, 999_999) for _ in range(total))
        middle = harvests[total // 2]
        own = draw.sample([each for each in harvests if each != middle], trees)
        rest = [each for each in harvests if each not in own]
        rows = dealt(draw, rest, [seat for seat in seats if seat != answerer]) | {answerer: own}
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    *(each for grams in row for each in HARVEST.write(draw, fresh, difficulty, value=grams)),
                    *(OTHER.write(draw, value=fresh.number(100_000, 999_999)) for _ in range(difficulty - 1)),
                ]
                for seat, row in rows.items()
            },
            facts=[
                Fact(f"harvest {place} of {seat}", (seat,), number(grams))
                for seat in neighbours
                for place, grams in enumerate(rows[seat], start=1)
            ],
            answerer=answerer,
        )

    def solve(self, setting: Setting) -> Answers:
        """The median."""
        middle = median(record.number("value") for _, record in HARVEST.stated(setting))
        return dict.fromkeys(setting.answerers, int(middle))
