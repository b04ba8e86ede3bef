"""A small task made by hand: three seats in a line, and the first has to answer with the sum of all numbers."""

from collections.abc import Collection, Mapping, Sequence

from pydantic import JsonValue

from concord.suite import Answers, Bound, Fact, Family, Grade, Group, Neighbours, Part, SuiteTask, Value, neighbours_of
from concord.suite.value import code, name, number, word
from concord_evaluator.messages import Sent

ANN, BOB, CYN, DOT = "agent/ann", "agent/bob", "agent/cyn", "agent/dot"
LINE = neighbours_of((ANN, BOB, CYN), [(ANN, BOB), (BOB, CYN)])
COLOURS = (word("red"), word("green"))

OF_BOB = Fact("number of bob", (BOB,), number(48213))
OF_CYN = Fact("number of cyn", (CYN,), number(70561))
BALLOT = Fact("ballot", (CYN,), word("red"), code("LM-10382"), COLOURS)
RANK = Fact("rank", (BOB,), number(90417), name("Dresevane"))
HOURS = Fact("hours", (BOB,), number(65728), name("Dresevane"))


class SumFamily:
    """The sum of all numbers. Anybody who knows both may state it instead."""

    name = "sum"
    group = Group.POOL
    seats = range(2, 101)
    summary = "the sum of all numbers"

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """The same task always."""
        del secret, difficulty
        return task_of(neighbours=neighbours)

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each answerer with the right sum, else 0."""
        right: Mapping[str, JsonValue] = key if isinstance(key, dict) else {}
        unreadable = tuple(seat for seat in right if not str(answers.get(seat, "0")).isdigit())
        return Grade({seat: float(answers.get(seat) == str(each)) for seat, each in right.items()}, unreadable)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The sum of all known numbers, if there are several."""
        del task
        numbers = [fact for fact in known if fact.anchor is None]
        if len(numbers) < 2:
            return {}
        return {number(sum(int(each.value.text) for each in numbers)): frozenset(each.id for each in numbers)}

    def implied(self, task: SuiteTask, known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
        """No fact follows from others."""
        del task, known, stated
        return frozenset()


class AgreeFamily(SumFamily):
    """The same, where a seat's answer counts only if most seats give it."""

    group = Group.AGREE

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat with the right sum, if more than half of the seats have it."""
        grade = super().grade(answers, key)
        agreed = 2 * sum(grade.parts.values()) > len(grade.parts)
        return Grade({seat: value * agreed for seat, value in grade.parts.items()}, grade.unreadable)


FAMILY: Family = SumFamily()
AGREE: Family = AgreeFamily()
SUM = "118774"


def task_of(
    facts: Sequence[Fact] = (OF_BOB, OF_CYN), neighbours: Neighbours = LINE, answerers: Sequence[str] = (ANN,)
) -> SuiteTask:
    """The task with these facts, of which each brief states its seat's."""
    briefs = {
        seat: " ".join(
            f"Yours is {each.value.text}, {each.anchor.text if each.anchor else 'now'}."
            for each in facts
            if seat in each.holders
        )
        for seat in neighbours
    }
    return SuiteTask(
        family="sum",
        difficulty=1,
        neighbours=neighbours,
        question="What is the sum of all numbers? Last year it was 55555.",
        briefs=briefs,
        answerers=tuple(answerers),
        key=dict.fromkeys(answerers, SUM),
        facts=tuple(facts),
        parts=tuple(Part(seat, seat, tuple(fact.id for fact in facts)) for seat in answerers),
        fewest_messages=Bound(1, False, ""),
        fewest_rounds=Bound(1, False, ""),
        chance=0.0,
    )


def sent(*messages: tuple[int, str, str, str], undelivered: Collection[int] = ()) -> list[Sent]:
    """Messages: round, sender, receiver and text. Their step ids are their places, from 1 on."""
    return [
        Sent(str(place), time, sender, receiver, text, place not in undelivered)
        for place, (time, sender, receiver, text) in enumerate(messages, start=1)
    ]
