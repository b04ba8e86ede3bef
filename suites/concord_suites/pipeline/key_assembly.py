"""Key assembly: a long key whose parts, in several versions, lie at different seats."""

from collections.abc import Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part
from concord.suite.value import number
from concord_suites.answers import as_list, read_each
from concord_suites.family import Drawn, Setting, TextFamily, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

PART: Final = on_slip(
    Statement(
        "part",
        "Part {place:number} of the key reads {number:number} in version {version:number}.",
        "Version {version:number} of part {place:number} is {number:number}.",
        "You hold {number:number}, which is part {place:number} in version {version:number}.",
        "In version {version:number}, part {place:number} says {number:number}.",
    ),
    Statement(
        "part on a slip",
        "Part {place:number} of the key in version {version:number} stands on slip {slip:code}.",
        "Version {version:number} of part {place:number} is what slip {slip:code} says.",
        "You hold slip {slip:code}, which has part {place:number} in version {version:number}.",
        "In version {version:number}, part {place:number} says the same as slip {slip:code}.",
    ),
)
DRAFT: Final = Statement(
    "draft",
    "A draft for part {place:number} was {number:number}.",
    "The key of another observatory has {number:number} as part {place:number}.",
    "For part {place:number}, the number {number:number} was only ever proposed.",
    "Somebody mistook {number:number} for part {place:number}.",
)
_RULE: Final = (
    "Of each part, the version with the highest number counts. Answer with a JSON list of the {parts:number} parts in "
    "order, from part 1 on. Put 0 for a part that you cannot find."
)
QUESTION: Final = Statement(
    "question",
    f"What is the key to the dome of the observatory? {_RULE}",
    f"Assemble the key that opens the dome of the observatory. {_RULE}",
    f"The dome opens to a long key. Which? {_RULE}",
)


class KeyAssembly(TextFamily):
    """One seat has to put together a key. Of each part, the newest version counts."""

    name: ClassVar = "key-assembly"
    group: ClassVar = Group.PIPELINE
    summary: ClassVar = "a key in parts, of which newer versions replace older ones"
    openings: ClassVar = (
        "You are an astronomer.",
        "The night is clear, and the dome is shut.",
        "You have a share in the key to an observatory.",
    )
    statements: ClassVar = (*grammar_of(PART), DRAFT, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """At least one part per seat but the answerer's, and older versions at all seats.

        Chance is 0: the answerer's brief states older versions only.
        """
        answerer, *others = draw.shuffled(list(neighbours))
        places = draw.shuffled(range(1, max(4, len(others)) + 1))
        current = {place: draw.between(40, 99) for place in places}
        older = {place: draw.shuffled(range(10, current[place])) for place in places}
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = []
        for at, place in enumerate(places):
            seat, part = others[at % len(others)], fresh.number()
            sentences[seat] += PART.write(draw, fresh, difficulty, number=part, place=place, version=current[place])
            facts.append(Fact(f"part {place}", (seat,), number(part)))
        for seat in neighbours:
            for _ in range((1 + difficulty) // 2 + (seat == answerer)):
                place = draw.choice(places)
                sentences[seat] += PART.write(
                    draw, fresh, difficulty, number=fresh.number(), place=place, version=older[place].pop()
                )
            for _ in range(difficulty - 1):
                sentences[seat].append(DRAFT.write(draw, place=draw.choice(places), number=fresh.number()))
        return Drawn(QUESTION.write(draw, parts=len(places)), sentences, facts, answerer=answerer)

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """Each part of the key is one of the answer, and follows from its newest version."""
        return [Part(fact.id, drawn.answerer or "", (fact.id,)) for fact in drawn.facts]

    def solve(self, setting: Setting) -> Answers:
        """The key, with 0 for parts that nobody has."""
        stated = [record for _, record in PART.stated(setting)]
        newest = {
            record.number("place"): record.number("number")
            for record in sorted(stated, key=lambda each: each.number("version"))
        }
        key: list[JsonValue] = [
            newest.get(place, 0) for place in range(1, setting.asked(QUESTION.name).number("parts") + 1)
        ]
        return dict.fromkeys(setting.answerers, key)

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each part of the key that is right at its place, else 0. Only as many items as the key has are read."""
        expected = key if isinstance(key, dict) else {}
        lists, unreadable = read_each(answers, expected, as_list)
        parts = {
            f"part {at + 1}": float(lists.get(seat, [])[at : at + 1] == [str(each)])
            for seat, right in expected.items()
            for at, each in enumerate(right if isinstance(right, list) else [])
        }
        return Grade(parts, unreadable)
