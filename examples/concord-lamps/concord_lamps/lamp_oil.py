"""The family: each seat knows the oil of its own lamps, and one seat has to state the sum."""

import re
from collections.abc import Collection, Mapping

from pydantic import JsonValue

from concord.suite import Answers, Bound, Draw, Fact, Grade, Group, Neighbours, Part, SuiteTask, Value, distances
from concord.suite.value import number

WORDINGS = (
    "The lamps of your street need {} ml of oil.",
    "Your lamps burn {} ml of oil a night.",
    "For your street, {} ml of lamp oil are due.",
)


class LampOil:
    """One seat has to add up the amounts of all seats."""

    name = "lamp-oil"
    group = Group.POOL
    seats = range(2, 101)
    summary = "the sum of one amount per seat"

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """One amount of five digits per seat, and last year's amounts as noise. All draws come from the secret."""
        if len(neighbours) not in self.seats:
            raise ValueError(f"{self.name} is for 2 to 100 seats")
        draw = Draw(secret)
        team = list(neighbours)
        answerer = draw.choice(team)
        amounts = dict(zip(team, different_amounts(draw, len(team)), strict=True))
        briefs = {
            seat: " ".join(
                [draw.choice(WORDINGS).format(amount)]
                + [f"Last year it was {draw.between(10_000, 99_999)} ml." for _ in range(difficulty - 1)]
            )
            for seat, amount in amounts.items()
        }
        facts = tuple(Fact(f"oil of {seat}", (seat,), number(amount)) for seat, amount in amounts.items())
        farthest = max(distances(neighbours, answerer).values())
        return SuiteTask(
            family=self.name,
            difficulty=difficulty,
            neighbours=neighbours,
            question=f"How many ml of oil do all streets need now? Only {answerer} answers, with the number.",
            briefs=briefs,
            answerers=(answerer,),
            key={answerer: sum(amounts.values())},
            facts=facts,
            parts=(Part("sum", answerer, tuple(fact.id for fact in facts)),),
            fewest_messages=Bound(len(team) - 1, True, "each other seat must send once, along a tree to the answerer"),
            fewest_rounds=Bound(farthest + 1, True, "a message moves one edge a round, and the answer follows"),
            chance=0.0,
        )

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for the sum, else 0. An answer with no number or several numbers is unreadable."""
        [(seat, expected)] = key.items() if isinstance(key, dict) else []
        if answers.get(seat) is None:
            return Grade({"sum": 0.0})
        found = re.findall(r"\d+", str(answers[seat]).replace(",", "")[:1_000])
        if len(found) != 1:
            return Grade({"sum": 0.0}, (seat,))
        return Grade({"sum": float(found[0] == str(expected))})

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of the known amounts stands for them."""
        del task
        total = number(sum(int(fact.value.text) for fact in known))
        return {total: frozenset(fact.id for fact in known)} if len(known) > 1 else {}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """No amount follows from others."""
        del task, known, stated
        return frozenset()


def different_amounts(draw: Draw, count: int) -> list[int]:
    """Different numbers of five digits: the evaluator recognises a fact by a value that occurs nowhere else."""
    found: dict[int, None] = {}
    while len(found) < count:
        found[draw.between(10_000, 99_999)] = None
    return list(found)
