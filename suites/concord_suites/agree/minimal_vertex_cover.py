"""Minimal vertex cover: guards at an end of every open canal, and none that could go home."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part
from concord.suite.value import name, number, word
from concord_suites.agree.links import LinkFamily, draw_held, fits, fits_in_json, fits_of_json, lookalike, read_choices
from concord_suites.family import Drawn, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

PERMIT: Final = on_slip(
    Statement(
        "permit",
        "Your lock has permit {number:number}.",
        "Permit {number:number} hangs at your lock.",
        "One permit of your lock bears the number {number:number}.",
        "Your lock was granted permit {number:number}.",
    ),
    Statement(
        "permit on a slip",
        "Your lock has the permit on slip {slip:code}.",
        "The permit of slip {slip:code} hangs at your lock.",
        "One permit of your lock bears the number on slip {slip:code}.",
        "Your lock was granted the permit that slip {slip:code} names.",
    ),
)
GUARD: Final = Statement(
    "guard",
    "Your guard {guard:name} is {state:word} today.",
    "Today {guard:name}, the guard of your lock, is {state:word}.",
    "{guard:name} guards your lock and reports as {state:word}.",
    "Your guard is called {guard:name} and feels {state:word}.",
)
LAPSED: Final = Statement(
    "lapsed permit",
    "Permit {number:number} has lapsed.",
    "Last year your lock had permit {number:number}.",
    "The office took permit {number:number} back.",
    "Permit {number:number} was for a lock that is gone.",
)
STATES: Final = ("healthy", "ill")
ILL_SHARE: Final = 0.3
_RULE: Final = (
    "The canal between two neighbouring locks (seats that can send each other messages) is open if valid permits of "
    "both begin with the same three digits. Every open canal needs a guard on duty at one of its ends or both, ill "
    "guards cannot be on duty, and nobody may be on duty whose canals all have a guard at the other end."
)
_FORM: Final = (
    "If your guard is on duty, choose an open canal of yours without a guard on duty at the other end, and answer with "
    "the number of the other lock's permit for it. If your guard is not on duty, answer with the word out."
)
QUESTION: Final = Statement(
    "question",
    f"Which guards are on duty? {_RULE} {_FORM}",
    f"Each lock has a guard. Decide who is on duty tonight. {_RULE} {_FORM}",
    f"Guard the canals with no guard too many. {_RULE} {_FORM}",
)


class MinimalVertexCover(LinkFamily):
    """Each seat with an open canal names one for which its guard is needed, or says that its guard is off duty."""

    name: ClassVar = "minimal-vertex-cover"
    group: ClassVar = Group.AGREE
    summary: ClassVar = "a cover of all live links by seats that are able, none of them redundant"
    openings: ClassVar = (
        "You keep a canal lock.",
        "Your lock lies among many canals.",
        "You are in charge of one lock.",
    )
    held: ClassVar = PERMIT
    statements: ClassVar = (*grammar_of(PERMIT), GUARD, LAPSED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Equally many permits and one guard per seat. Of the two guards at an open canal, at most one is ill.

        Chance is 0: a seat on duty must name a permit that stands in another brief, and a seat is rightly out only if
        all seats at its open canals do.
        """
        held = draw_held(draw, fresh, neighbours, difficulty)
        linked = fits(held, neighbours)
        ill = set[str]()
        for seat in draw.shuffled(list(neighbours)):
            if draw.chance(ILL_SHARE) and ill.isdisjoint(linked[seat].values()):
                ill.add(seat)
        sentences, facts = dict[str, list[str]](), list[Fact]()
        for seat, numbers in held.items():
            guard, state = fresh.name(), "ill" if seat in ill else "healthy"
            sentences[seat] = [GUARD.write(draw, guard=guard, state=state)]
            for each in numbers:
                sentences[seat] += PERMIT.write(draw, fresh, difficulty, number=each)
            sentences[seat] += [LAPSED.write(draw, number=lookalike(draw, fresh, held)) for _ in range(difficulty - 1)]
            if linked[seat]:
                facts.append(
                    Fact(f"guard of {seat}", (seat,), word(state), anchor=name(guard), domain=tuple(map(word, STATES)))
                )
        owners = {each: other for found in linked.values() for each, other in found.items()}
        facts += [Fact(f"permit {each}", (seat,), number(each)) for each, seat in sorted(owners.items())]
        return Drawn(question=QUESTION.write(draw), sentences=sentences, facts=facts)

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's duty follows from its open canals, and from the health of the guards at their ends.

        A seat without an open canal, or with an ill guard, is not graded: it can answer without a message.
        """
        held: dict[str, list[int]] = {seat: [] for seat in neighbours}
        ill = {fact.holders[0] for fact in drawn.facts if fact.value == word("ill")}
        for fact in drawn.facts:
            if fact.anchor is None:
                held[fact.holders[0]].append(int(fact.value.text))
        return [
            Part(
                seat,
                seat,
                (
                    *(f"guard of {other}" for other in neighbours if other in {seat, *found.values()}),
                    *(f"permit {each}" for each in sorted([*held[seat], *found])),
                ),
            )
            for seat, found in fits(held, neighbours).items()
            if found and seat not in ill
        ]

    def solve(self, setting: Setting) -> Answers:
        """Puts all healthy guards on duty, and then sends each in turn home if all its canals keep a guard."""
        found = self.fits(setting)
        ill = _ill(setting)
        on_duty = {seat for seat in found if found[seat] and seat not in ill}
        for seat in found:
            if on_duty.issuperset(found[seat].values()):
                on_duty.discard(seat)
        return {
            seat: min(each for each, other in found[seat].items() if other not in on_duty) if seat in on_duty else "out"
            for seat in found
        }

    def key(self, setting: Setting) -> JsonValue:
        """The permits that fit, for each seat with an open canal, and the seats with ill guards."""
        return {"fits": fits_in_json(self.fits(setting)), "ill": list(_ill(setting))}

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each graded seat that is rightly on duty or out, else 0. Ill guards count as out."""
        fields = key if isinstance(key, dict) else {}
        found, ill = fits_of_json(fields.get("fits")), fields.get("ill")
        able = [seat for seat in found if not isinstance(ill, list) or seat not in ill]
        named, unreadable = read_choices(answers, able, "out")
        out = {seat for seat in found if seat not in able or (seat in named and named[seat] is None)}
        needed = {seat for seat in able if _needed(named.get(seat), found[seat], out)}
        parts = {
            seat: float(seat in needed or (seat in out and needed.issuperset(found[seat].values()))) for seat in able
        }
        return Grade(parts, unreadable)


def _ill(setting: Setting) -> list[str]:
    return sorted(seat for seat, record in setting.stated(GUARD.name) if record["state"] == "ill")


def _needed(witness: int | None, others: Mapping[int, str], out: set[str]) -> bool:
    return witness is not None and others.get(witness) in out
