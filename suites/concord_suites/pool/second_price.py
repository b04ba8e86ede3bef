"""Second price: the winner of a sealed auction, and the second-highest bid."""

from collections.abc import Collection, Mapping, Sequence
from typing import ClassVar, Final

from pydantic import BaseModel, JsonValue

from concord.suite import Answers, Draw, Fact, Grade, Group, Neighbours, Part, SuiteTask, Value
from concord.suite.value import name, number
from concord_suites.answers import as_mapping, as_number, read_each
from concord_suites.family import Drawn, ReferableStatement, Setting, TextFamily, grade_each, grammar_of
from concord_suites.grammar import Fresh, StatedRecord, Statement
from concord_suites.shared_draws import dealt

SEALED: Final = Statement(
    "bid in an envelope",
    "Envelope {envelope:code} has the bid of {bidder:name}, {crowns:number} crowns.",
    "In envelope {envelope:code}, {bidder:name} offers {crowns:number} crowns.",
    "On behalf of {bidder:name}, envelope {envelope:code} offers {crowns:number} crowns.",
    "The {crowns:number} crowns of {bidder:name} are in envelope {envelope:code}.",
)
ENVELOPE: Final = Statement(
    "envelope",
    "Envelope {envelope:code} came {when:word}.",
    "You got envelope {envelope:code} {when:word}.",
    "The post brought envelope {envelope:code} {when:word}.",
    "According to its stamp, envelope {envelope:code} came {when:word}.",
)
BID: Final = ReferableStatement(
    Statement(
        "bid",
        "{bidder:name} bids {crowns:number} crowns.",
        "The bid of {bidder:name} is {crowns:number} crowns.",
        "{crowns:number} crowns are bid by {bidder:name}.",
        "For {bidder:name} you hold a bid of {crowns:number} crowns.",
    ),
    SEALED,
    ENVELOPE,
)
WITHDRAWN: Final = ReferableStatement(
    Statement(
        "withdrawn bid",
        "{bidder:name} took back a bid of {crowns:number} crowns.",
        "In the last auction, {bidder:name} paid {crowns:number} crowns.",
        "{bidder:name} thought about {crowns:number} crowns, and bid nothing.",
        "The offer of {bidder:name}, {crowns:number} crowns, is for another clock.",
    ),
    SEALED,
    ENVELOPE,
)
_RULE: Final = "The highest bid wins and pays the second-highest bid. Envelopes that came late do not count."
_FORM: Final = (
    'Answer with a JSON object such as {"winner": "...", "price": 0}, with the winner\'s name and the price in crowns.'
)
QUESTION: Final = Statement(
    "question",
    *(
        f"{asked} {_RULE} {_FORM.replace('{', '{{').replace('}', '}}')}"
        for asked in (
            "Each seat holds sealed bids for an old clock. Who gets it, and for how much?",
            "An old clock is sold to one of the bidders of all seats. Who wins, and what is the price?",
            "Find the winner of the auction of the clock over the bids of all seats, and the price.",
        )
    ),
)
IN_TIME: Final = "early"
LATE: Final = "late"


class SaleKey(BaseModel):
    """What an answer is compared with."""

    seat: str
    winner: str
    price: int


class SecondPrice(TextFamily):
    """One seat has to name the highest bidder and the second-highest bid."""

    name: ClassVar = "second-price"
    group: ClassVar = Group.POOL
    summary: ClassVar = "the winner of a sealed auction, and the second-highest bid"
    openings: ClassVar = (
        "You take bids for an auction house.",
        "You are a clerk of an auction house.",
        "Bidders trust you with their bids.",
    )
    statements: ClassVar = (*grammar_of(BID, WITHDRAWN), QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Bids for each seat.

        Chance is 0: the answerer holds neither of the two highest bids, and neither name nor price can be guessed.
        """
        answerer = draw.choice(list(neighbours))
        each_has = max(1 + difficulty // 2, 4 // len(neighbours))
        crowns = sorted((fresh.number(100_000, 999_999) for _ in range(each_has * len(neighbours))), reverse=True)
        own = draw.sample(crowns[2:], each_has)
        rest = [each for each in crowns if each not in own]
        hands = dealt(draw, rest, [seat for seat in neighbours if seat != answerer]) | {answerer: own}
        bidder = {each: fresh.name() for each in crowns}
        sentences = dict[str, list[str]]()
        for seat, bids in hands.items():
            offers = [(bidder[each], each, BID, IN_TIME) for each in bids]
            offers += [(fresh.name(), fresh.number(100_000, 999_999), WITHDRAWN, LATE) for _ in range(difficulty - 1)]
            sentences[seat] = [
                sentence
                for who, price, offer, when in offers
                for sentence in offer.write(draw, fresh, difficulty, bidder=who, crowns=price, when=when)
            ]
        return Drawn(
            question=QUESTION.write(draw),
            sentences=sentences,
            facts=[
                Fact(f"bid of {bidder[each]}", (seat,), number(each), anchor=name(bidder[each]))
                for seat in neighbours
                for each in hands[seat]
            ],
            answerer=answerer,
        )

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """Winner and price, each of which follows from all bids."""
        ids = tuple(fact.id for fact in drawn.facts)
        return [Part(part, drawn.answerer or "", ids) for part in ("winner", "price")]

    def solve(self, setting: Setting) -> Answers:
        """The bidder of the highest bid, and the second-highest bid."""
        first, second, *_ = sorted(_bids(setting), key=lambda bid: bid.number("crowns"), reverse=True)
        [answerer] = setting.answerers
        return {answerer: {"winner": first["bidder"], "price": second.number("crowns")}}

    def key(self, setting: Setting) -> JsonValue:
        """The answerer's right answer."""
        [(seat, answer)] = self.solve(setting).items()
        return SaleKey.model_validate({"seat": seat, **as_mapping(answer)}).model_dump()

    def grade(self, answers: Answers, key: JsonValue) -> Grade:
        """Half for the winner, half for the price."""
        expected = SaleKey.model_validate(key)
        objects, unreadable = read_each(answers, [expected.seat], as_mapping)
        given = objects.get(expected.seat, {})
        winner = float(str(given.get("winner")).strip().casefold() == expected.winner.casefold())
        price = grade_each({"price": given.get("price")}, {"price": expected.price}, as_number)
        return Grade({"winner": winner, **price.parts}, unreadable + price.unreadable)

    def partial_results(self, _task: SuiteTask, known: Collection[Fact]) -> Mapping[Value, frozenset[str]]:
        """The second-highest bid so far stands for all lower bids."""
        ranked = sorted(known, key=lambda fact: int(fact.value.text), reverse=True)
        return {ranked[1].value: frozenset(fact.id for fact in ranked[1:])} if ranked[1:] else {}


def _bids(setting: Setting) -> list[StatedRecord]:
    """The bids that count."""
    late = {record["envelope"] for _, record in setting.stated(ENVELOPE.name) if record["when"] == LATE}
    sealed = [record for _, record in setting.stated(SEALED.name) if record["envelope"] not in late]
    return [record for _, record in setting.stated(BID.direct.name)] + sealed
