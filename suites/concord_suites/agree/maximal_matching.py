"""Maximal matching: seats pair up with neighbours whose tickets fit, until no two that fit are left."""

from collections.abc import Mapping, Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part
from concord.suite.value import number
from concord_suites.agree.links import LinkFamily, draw_held, fits, fits_in_json, fits_of_json, lookalike, read_choices
from concord_suites.family import Drawn, Setting, grammar_of, on_slip
from concord_suites.grammar import Fresh, Statement

TICKET: Final = on_slip(
    Statement(
        "ticket",
        "You hold boat ticket {number:number}.",
        "Boat ticket {number:number} is yours.",
        "One of your boat tickets has the number {number:number}.",
        "In your pocket is boat ticket {number:number}.",
    ),
    Statement(
        "ticket on a slip",
        "You hold the boat ticket that slip {slip:code} names.",
        "The boat ticket of slip {slip:code} is yours.",
        "One of your boat tickets has its number on slip {slip:code}.",
        "In your pocket is the boat ticket noted on slip {slip:code}.",
    ),
)
USED: Final = Statement(
    "used ticket",
    "Ticket {number:number} was used up in spring.",
    "You gave ticket {number:number} back.",
    "Your old ticket {number:number} no longer counts.",
    "Ticket {number:number} has expired.",
)
_RULE: Final = (
    "Each of you rows with one neighbour (a seat that you can send messages to) or stays ashore. Two neighbours can "
    "share a boat if a valid ticket of one and a valid ticket of the other begin with the same three digits. Nobody "
    "may be in two boats, and no two neighbours who could share a boat may both stay ashore."
)
_FORM: Final = "the number of your partner's ticket that begins like one of yours, or with none if you stay ashore."
QUESTION: Final = Statement(
    "question",
    f"Who rows with whom? {_RULE} Answer with {_FORM}",
    f"Fill the boats. {_RULE} Each answers with {_FORM}",
    f"The rowing club goes out in boats for two. {_RULE} Your answer is {_FORM}",
)


class MaximalMatching(LinkFamily):
    """Each seat with a neighbour that it fits has to name its partner's ticket, or that it has none."""

    name: ClassVar = "maximal-matching"
    group: ClassVar = Group.AGREE
    summary: ClassVar = "pairs of neighbours that fit, until no two that fit are without a partner"
    openings: ClassVar = (
        "You are a member of a rowing club.",
        "The lake is calm and the boats are ready.",
        "You came to the boathouse early.",
    )
    held: ClassVar = TICKET
    statements: ClassVar = (*grammar_of(TICKET), USED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Equally many tickets per seat. Only tickets that fit a neighbour's are facts.

        Chance is 0: a pair must name each other's tickets, which stand in no other brief, and a graded seat is rightly
        without partner only if all neighbours that it fits are in such pairs.
        """
        held = draw_held(draw, fresh, neighbours, difficulty)
        sentences = {
            seat: [sentence for each in numbers for sentence in TICKET.write(draw, fresh, difficulty, number=each)]
            + [USED.write(draw, number=lookalike(draw, fresh, held)) for _ in range(difficulty - 1)]
            for seat, numbers in held.items()
        }
        owners = {each: other for found in fits(held, neighbours).values() for each, other in found.items()}
        return Drawn(
            question=QUESTION.write(draw),
            sentences=sentences,
            facts=[Fact(f"ticket {each}", (seat,), number(each)) for each, seat in sorted(owners.items())],
        )

    def parts(self, drawn: Drawn, neighbours: Neighbours) -> Sequence[Part]:
        """A seat's possible partners follow from both sides' tickets. Seats that fit no neighbour are not graded."""
        held: dict[str, list[int]] = {seat: [] for seat in neighbours}
        for fact in drawn.facts:
            held[fact.holders[0]].append(int(fact.value.text))
        return [
            Part(seat, seat, tuple(f"ticket {each}" for each in sorted([*held[seat], *found])))
            for seat, found in fits(held, neighbours).items()
            if found
        ]

    def solve(self, setting: Setting) -> Answers:
        """Each seat in turn takes the first neighbour that fits and is free."""
        found = self.fits(setting)
        partner: dict[str, str] = {}
        for seat in found:
            free = (other for other in found[seat].values() if other not in partner)
            if seat not in partner and (other := next(free, None)) is not None:
                partner |= {seat: other, other: seat}
        return {
            seat: min(each for each, other in found[seat].items() if other == partner[seat])
            if seat in partner
            else "none"
            for seat in found
        }

    def key(self, setting: Setting) -> JsonValue:
        """The tickets that fit, for each seat that fits somebody."""
        return fits_in_json(self.fits(setting))

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """1 for each seat that is in a pair, or says that it has no partner and could find none; else 0."""
        found = fits_of_json(key)
        named, unreadable = read_choices(answers, found, "none")
        chosen = {seat: found[seat][each] for seat, each in named.items() if each is not None and each in found[seat]}
        paired = {seat for seat, other in chosen.items() if chosen.get(other) == seat}
        return Grade(
            {seat: float(seat in paired or _rightly_alone(seat, named, found, paired)) for seat in found},
            unreadable,
        )


def _rightly_alone(
    seat: str, named: Mapping[str, int | None], found: Mapping[str, Mapping[int, str]], paired: set[str]
) -> bool:
    return seat in named and named[seat] is None and set(found[seat].values()) <= paired
