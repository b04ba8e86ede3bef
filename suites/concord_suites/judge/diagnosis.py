"""Diagnosis: the one fault that explains the signs in all logs, and their order."""

from typing import ClassVar, Final

from concord.suite import Draw, Fact, Group, Neighbours
from concord.suite.value import code, name, number
from concord_suites.answer_kinds import ChoiceFamily
from concord_suites.family import Drawn, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement

FIELDS: Final = ("first", "second", "third", "fourth", "fifth")
"""The signs that a fault brings, in their order."""
OTHER_SIGNS: Final = 5
"""Signs that faults bring and no log shows."""

RECORDED: Final = Statement(
    "recorded entry",
    "Entry {entry:number}, made by recorder {recorder:code}, shows sign {sign:code}.",
    "Recorder {recorder:code} noted sign {sign:code} as entry {entry:number}.",
    "In entry {entry:number}, recorder {recorder:code} notes sign {sign:code}.",
    "Sign {sign:code} was noted as entry {entry:number} by recorder {recorder:code}.",
)
ENTRY: Final = ReferableStatement(
    Statement(
        "entry",
        "Entry {entry:number} of your log shows sign {sign:code}.",
        "Your log has sign {sign:code} in entry {entry:number}.",
        "In entry {entry:number}, your log notes sign {sign:code}.",
        "Sign {sign:code} is noted as entry {entry:number} in your log.",
    ),
    RECORDED,
    Statement(
        "working recorder",
        "Recorder {recorder:code} works well.",
        "Recorder {recorder:code} has passed its test.",
        "There is nothing wrong with recorder {recorder:code}.",
        "You can rely on recorder {recorder:code}.",
    ),
)
OLD: Final = ReferableStatement(
    Statement(
        "old entry",
        "Entry {entry:number} in last year's log showed sign {sign:code}.",
        "Before the overhaul, sign {sign:code} was entry {entry:number}.",
        "An old log has sign {sign:code} in entry {entry:number}.",
        "Entry {entry:number} is about another engine and shows sign {sign:code}.",
    ),
    RECORDED,
    Statement(
        "broken recorder",
        "Recorder {recorder:code} is broken.",
        "Recorder {recorder:code} has failed its test.",
        "There is something wrong with recorder {recorder:code}.",
        "You cannot rely on recorder {recorder:code}.",
    ),
)
_SIGNS: Final = ", ".join(f"{{{field}:code}}" for field in FIELDS[:-1]) + f" and {{{FIELDS[-1]}:code}}"
FAULT: Final = Statement(
    "fault",
    f"The fault {{fault:name}} brings the signs {_SIGNS}, in this order.",
    f"The signs {_SIGNS} come in this order with the fault {{fault:name}}.",
    f"{{fault:name}} is a fault that brings, one after the other, {_SIGNS}.",
    f"The handbook lists {_SIGNS}, in this order, for the fault {{fault:name}}.",
)
_RULE: Final = (
    "The lower an entry's number, the earlier was its sign, in whichever log it stands; entries by broken recorders do "
    "not count. A fault may leave out some of its signs, but keeps their order."
)
QUESTION: Final = Statement(
    "question",
    f"Exactly one fault explains all signs in the present logs of all seats. Which one? {_RULE} Answer with its name.",
    f"The pump has one fault, which explains the signs in the present logs of all seats. {_RULE} Answer with the "
    "name of the fault.",
    f"Find the only fault that explains every sign in the present logs of all seats. {_RULE} Answer with the "
    "fault's name.",
)


class Diagnosis(ChoiceFamily):
    """One seat has to name the fault that explains the signs in several seats' logs."""

    name: ClassVar = "diagnosis"
    group: ClassVar = Group.JUDGE
    summary: ClassVar = "the one fault that explains the signs in several seats' logs, in their order"
    openings: ClassVar = (
        "A great pump has stopped.",
        "You work at the pumping station, where the pump stands still.",
        "The pump has failed, and the handbook lies open.",
    )
    statements: ClassVar = (*grammar_of(ENTRY, OLD), FAULT, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Three to five signs in logs. For each sign, there is a fault that lacks only this one; for each two signs
        that follow one another, there is a fault that exchanges them.

        Every sign and its place are therefore needed. Chance is 0: the answerer does not hold the fault's sentence.
        """
        seats = draw.shuffled(list(neighbours))
        shown = [fresh.code() for _ in range(3 + (difficulty - 1) // 2)]
        others = [fresh.code() for _ in range(OTHER_SIGNS)]
        faults = [shown, *([each for each in shown if each != missing] for missing in shown)]
        faults += [[*shown[:at], shown[at + 1], shown[at], *shown[at + 2 :]] for at in range(len(shown) - 1)]
        while len(faults) < len(seats) * (1 + difficulty // 3):
            faults.append(draw.sample(shown, len(shown) - draw.between(1, 2)))
        names = [fresh.name() for _ in faults]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        for at, (fault, signs) in enumerate(zip(names, faults, strict=True)):
            row = dict(zip(FIELDS, _row(draw, signs, others), strict=True))
            sentences[seats[at % len(seats)]].append(FAULT.write(draw, fault=fault, **row))
        facts = [Fact("fault", (seats[0],), name(names[0]))]
        domain = tuple(code(each) for each in sorted([*shown, *others]))
        logs = draw.shuffled(seats)
        entries = sorted(fresh.number() for _ in shown)
        for at, (entry, sign) in enumerate(zip(entries, shown, strict=True)):
            seat = logs[at % len(logs)]
            sentences[seat] += ENTRY.write(draw, fresh, difficulty, entry=entry, sign=sign)
            facts.append(Fact(f"sign {at + 1}", (seat,), code(sign), number(entry), domain))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                sign = draw.choice([*shown, *others])
                sentences[seat] += OLD.write(draw, fresh, difficulty, entry=fresh.number(), sign=sign)
        return Drawn(QUESTION.write(draw), sentences, facts, answerer=draw.choice(seats[1:]))

    def options(self, setting: Setting) -> list[str]:
        """All faults."""
        return sorted(record["fault"] for _, record in setting.stated(FAULT.name))

    def right(self, setting: Setting) -> str:
        """The fault that brings all signs in the order of their entries."""
        working = {record["recorder"] for _, record in setting.stated(ENTRY.definition.name)}
        entries = [record for _, record in setting.stated(ENTRY.direct.name)]
        entries += [record for _, record in setting.stated(RECORDED.name) if record["recorder"] in working]
        shown = [record["sign"] for record in sorted(entries, key=lambda record: record.number("entry"))]
        [fault] = [
            record["fault"]
            for _, record in setting.stated(FAULT.name)
            if [record[field] for field in FIELDS if record[field] in shown] == shown
        ]
        return fault


def _row(draw: Draw, signs: list[str], others: list[str]) -> list[str]:
    """The signs in their order, with other signs at random places between them."""
    row = draw.sample(others, len(FIELDS))
    for place, sign in zip(sorted(draw.sample(range(len(FIELDS)), len(signs))), signs, strict=True):
        row[place] = sign
    return row
