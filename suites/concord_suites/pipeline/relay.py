"""Relay: a number that passes through a chain of steps, of which each seat holds one."""

from collections.abc import Collection, Iterator, Mapping
from typing import ClassVar, Final

from concord.suite import Answers, Draw, Fact, Group, Neighbours, SuiteTask, Value
from concord.suite.value import code, number, word
from concord_suites.family import Drawn, OneAnswerFamily, Setting, first_results, grammar_of, on_slip, setting_of
from concord_suites.grammar import Fresh, StatedRecord, Statement

LIMIT: Final = 1_000_000
"""The number has six digits after every step."""

ACTIONS: Final = ("mirrors", "reverses", "rotates", "triples")

START: Final = Statement(
    "start",
    "The number that goes in is {number:number}.",
    "The machine begins with {number:number}.",
    "At the start stands the number {number:number}.",
    "Before the first wheel turns, the machine shows {number:number}.",
)
ADDED: Final = on_slip(
    Statement(
        "added",
        "Wheel {place:number} adds {number:number}.",
        "Your wheel has place {place:number} and adds {number:number}.",
        "At place {place:number}, your wheel adds {number:number}.",
        "The wheel at place {place:number} raises the number by {number:number}.",
    ),
    Statement(
        "added by slip",
        "Wheel {place:number} adds what slip {slip:code} says.",
        "Your wheel has place {place:number} and adds the number on slip {slip:code}.",
        "At place {place:number}, your wheel adds what stands on slip {slip:code}.",
        "The wheel at place {place:number} raises the number by that on slip {slip:code}.",
    ),
)
SUBTRACTED: Final = on_slip(
    Statement(
        "subtracted",
        "Wheel {place:number} takes away {number:number}.",
        "Your wheel has place {place:number} and subtracts {number:number}.",
        "At place {place:number}, your wheel takes away {number:number}.",
        "The wheel at place {place:number} lowers the number by {number:number}.",
    ),
    Statement(
        "subtracted by slip",
        "Wheel {place:number} takes away what slip {slip:code} says.",
        "Your wheel has place {place:number} and subtracts the number on slip {slip:code}.",
        "At place {place:number}, your wheel takes away what stands on slip {slip:code}.",
        "The wheel at place {place:number} lowers the number by that on slip {slip:code}.",
    ),
)
ACTION: Final = Statement(
    "action",
    "Wheel {place:number}, stamped {stamp:code}, {action:word} the number.",
    "Your wheel has place {place:number}, and with its stamp {stamp:code} it {action:word} the number.",
    "At place {place:number}, the wheel with the stamp {stamp:code} {action:word} the number.",
    "The wheel at place {place:number} bears the stamp {stamp:code} and {action:word} the number.",
)
REPAIRED: Final = Statement(
    "before the repair",
    "Before its repair, wheel {place:number} added {number:number}.",
    "An old plan has a wheel at place {place:number} that added {number:number}.",
    "A copy of the machine in another museum adds {number:number} at place {place:number}.",
    "It was planned that wheel {place:number} should take away {number:number}.",
)
_RULE: Final = (
    "The wheels work on the number in the order of their places, from place 1 on. The number always has six digits: "
    "after each wheel, only the last six digits count, and 1,000,000 is added to a number below 0. A wheel that "
    "mirrors replaces each of the six digits d by 9 - d, one that reverses writes the six digits backwards, one that "
    "rotates moves the first of the six digits to the end, and one that triples multiplies by 3."
)
QUESTION: Final = Statement(
    "question",
    f"Which number does the calculating machine show after its last wheel? {_RULE} Answer with the number.",
    f"What comes out of the calculating machine? {_RULE} Answer with that number.",
    f"Work out the number that leaves the calculating machine. {_RULE} Answer with the number.",
)


class Relay(OneAnswerFamily):
    """One seat has to say what a chain of steps makes of a number."""

    name: ClassVar = "relay"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "a number after a chain of steps, one per seat"
    openings: ClassVar = (
        "You look after a wheel of an old calculating machine.",
        "Your museum owns a calculating machine of brass.",
        "You oil the wheels of a calculating machine.",
    )
    statements: ClassVar = (START, *grammar_of(ADDED, SUBTRACTED), ACTION, REPAIRED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """One step per seat, and the first number at the seat of the first step, which is not the answerer.

        Chance is 0: every step maps different numbers to different ones, and the first is one of 900,000.
        """
        order = draw.shuffled(list(neighbours))
        first = fresh.number(100_000, 999_999)
        sentences = {seat: [START.write(draw, number=first)] if seat == order[0] else [] for seat in neighbours}
        facts = [Fact("start", (order[0],), number(first))]
        for place, seat in enumerate(order, start=1):
            if draw.chance(0.1 * difficulty):
                stamp, action = fresh.code(), draw.choice(ACTIONS)
                sentences[seat].append(ACTION.write(draw, place=place, stamp=stamp, action=action))
                domain = tuple(map(word, ACTIONS))
                facts.append(Fact(f"step {place}", (seat,), word(action), anchor=code(stamp), domain=domain))
            else:
                kind, amount = draw.choice((ADDED, SUBTRACTED)), fresh.number(100_000, 999_999)
                sentences[seat] += kind.write(draw, fresh, difficulty, number=amount, place=place)
                facts.append(Fact(f"step {place}", (seat,), number(amount)))
            for _ in range(difficulty - 1):
                other = draw.between(1, len(order))
                sentences[seat].append(REPAIRED.write(draw, place=other, number=fresh.number(100_000, 999_999)))
        return Drawn(QUESTION.write(draw), sentences, facts, answerer=draw.choice(order[1:]))

    def solve(self, setting: Setting) -> Answers:
        """The number after the last step."""
        *_, last = _numbers(setting)
        return dict.fromkeys(setting.answerers, last)

    def partial_results(self, task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The number after the first k steps stands for them and for the first number."""
        return first_results(task, known, _numbers(setting_of(self, task)))


def _numbers(setting: Setting) -> Iterator[int]:
    """The first number, and the number after each step. Raises LookupError or ValueError if some step is unknown."""
    [(_, start)] = setting.stated(START.name)
    steps: list[tuple[str, StatedRecord]] = [
        *(("adds", record) for _, record in ADDED.stated(setting)),
        *(("subtracts", record) for _, record in SUBTRACTED.stated(setting)),
        *((record["action"], record) for _, record in setting.stated(ACTION.name)),
    ]
    by_place = {record.number("place"): (action, record) for action, record in steps}
    reached = start.number("number")
    yield reached
    for place in range(1, len(steps) + 1):
        action, record = by_place[place]
        reached = _after(action, reached, record)
        yield reached


def _after(action: str, reached: int, record: StatedRecord) -> int:
    digits = str(reached).zfill(6)
    if action == "adds":
        return (reached + record.number("number")) % LIMIT
    if action == "subtracts":
        return (reached - record.number("number")) % LIMIT
    if action == "triples":
        return 3 * reached % LIMIT
    if action == "mirrors":
        return LIMIT - 1 - reached
    return int(digits[::-1] if action == "reverses" else digits[1:] + digits[0])
