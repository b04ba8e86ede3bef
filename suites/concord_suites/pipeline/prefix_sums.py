"""Prefix sums: each seat's total of all amounts up to its own, in a stated order of the seats."""

from collections.abc import Collection, Mapping, Sequence
from itertools import accumulate
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import number
from concord_suites.family import Drawn, OneAnswerFamily, Setting, first_results
from concord_suites.grammar import Fresh, Statement

AMOUNT: Final = Statement(
    "amount",
    "Your stage of the trip cost {amount:number} crowns.",
    "You paid {amount:number} crowns on your stage.",
    "The bill for your stage comes to {amount:number} crowns.",
    "On your stage, {amount:number} crowns were spent.",
)
ESTIMATE: Final = Statement(
    "estimate",
    "The estimate had been {amount:number} crowns.",
    "In the plan stood {amount:number} crowns.",
    "Somebody on another trip paid {amount:number} crowns.",
    "A year ago it would have been {amount:number} crowns.",
)
STAGE: Final = Statement(
    "stage",
    "Yours is stage {place:number}.",
    "You travelled stage {place:number}.",
    "Your stage has the number {place:number}.",
    "Stage {place:number} was yours.",
)
QUESTION: Final = Statement(
    "question",
    "Each seat paid for one stage of a trip. What had the trip cost by the end of your stage? Answer with the sum.",
    "How many crowns were spent on all stages up to and including yours? Answer with that number.",
    "Answer with the sum of the costs of stage 1 up to your own stage, yours included.",
)


class PrefixSums(OneAnswerFamily):
    """Every seat has to say what all stages up to its own cost together."""

    name: ClassVar = "prefix-sums"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "each seat's sum of all amounts up to its own"
    openings: ClassVar = (
        "You travelled with friends.",
        "The trip had as many stages as there are seats.",
        "You are one of several travellers.",
    )
    statements: ClassVar = (AMOUNT, ESTIMATE, STAGE, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """One amount per seat, in an order of which each seat knows its own place."""
        order = draw.shuffled(list(neighbours))
        amounts = {seat: fresh.number() for seat in order}
        return Drawn(
            question=QUESTION.write(draw),
            sentences={
                seat: [
                    AMOUNT.write(draw, amount=amounts[seat]),
                    STAGE.write(draw, place=place),
                    *(ESTIMATE.write(draw, amount=fresh.number()) for _ in range(difficulty - 1)),
                ]
                for place, seat in enumerate(order, start=1)
            },
            facts=[
                Fact(f"amount of stage {place}", (seat,), number(amounts[seat])) for place, seat in enumerate(order, 1)
            ],
        )

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """A seat's sum follows from the amounts up to its own. The first seat needs no other, and is not graded."""
        ids = [fact.id for fact in drawn.facts]
        seats = [fact.holders[0] for fact in drawn.facts]
        return [Part(seat, seat, tuple(ids[:at])) for at, seat in enumerate(seats[1:], start=2)]

    def solve(self, setting: Setting) -> Answers:
        """The sums so far, in the order of the stages."""
        amounts = {seat: record.number("amount") for seat, record in setting.stated(AMOUNT.name)}
        places = {seat: record.number("place") for seat, record in setting.stated(STAGE.name)}
        order = sorted(places, key=lambda seat: places[seat])
        return dict(zip(order, accumulate(amounts[seat] for seat in order), strict=True))

    def key(self, setting: Setting) -> JsonValue:
        """The sums of all seats but the first."""
        return dict(list(self.solve(setting).items())[1:])

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of the first k amounts stands for them."""
        return first_results(task, known, accumulate(int(fact.value.text) for fact in task.facts))
