"""Stale fact: the latest valuation of each painting, where most seats hold an older one."""

import datetime
from collections.abc import Sequence
from typing import ClassVar, Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, Fact, Group, Neighbours, Part
from concord.suite.value import number
from concord_suites.family import FIRST_DIFFICULTY, Drawn, ObjectFamily, ReferableStatement, Setting, grammar_of
from concord_suites.grammar import Fresh, Statement

FIRST_DAY: Final = datetime.date(2031, 1, 1)

VALUATION: Final = ReferableStatement(
    Statement(
        "valuation",
        "On {date:date}, {painting:name} was valued at {worth:number} crowns.",
        "The valuation of {painting:name} on {date:date} came to {worth:number} crowns.",
        "{painting:name} was found to be worth {worth:number} crowns on {date:date}.",
        "An expert put {painting:name} at {worth:number} crowns on {date:date}.",
    ),
    Statement(
        "certificate",
        "Certificate {certificate:code} values {painting:name} at {worth:number} crowns.",
        "By certificate {certificate:code}, {painting:name} is worth {worth:number} crowns.",
        "The valuation of {painting:name} in certificate {certificate:code} is {worth:number} crowns.",
        "An expert put {painting:name} at {worth:number} crowns in certificate {certificate:code}.",
    ),
    Statement(
        "date of a certificate",
        "Certificate {certificate:code} is of {date:date}.",
        "The date of certificate {certificate:code} is {date:date}.",
        "Certificate {certificate:code} was signed on {date:date}.",
        "{date:date} is the day on which certificate {certificate:code} was signed.",
    ),
)
OFFER: Final = Statement(
    "offer",
    "A buyer offered {worth:number} crowns for {painting:name} on {date:date}.",
    "The offer for {painting:name} of {date:date} was {worth:number} crowns.",
    "On {date:date}, a copy of {painting:name} was sold for {worth:number} crowns.",
    "On {date:date}, somebody guessed {worth:number} crowns for {painting:name}.",
)
QUESTION: Final = Statement(
    "question",
    "What are the paintings of the exhibition worth by their latest valuations? Only valuations count. Answer with "
    "a JSON object from each painting's name to its worth in crowns.",
    "For each painting of the exhibition, find the valuation with the latest date; only valuations count. Answer "
    "with a JSON object from the painting's name to that number of crowns.",
    "Which worth has each exhibited painting now? The valuation with the latest date decides, and nothing else "
    "counts. Answer with a JSON object from names of paintings to crowns.",
)
EXHIBITED: Final = Statement(
    "exhibited painting",
    "{painting:name} is in the exhibition.",
    "The exhibition shows {painting:name}.",
    "One of the exhibited paintings is {painting:name}.",
    "{painting:name} hangs in the exhibition.",
)


class StaleFact(ObjectFamily):
    """One seat has to state the latest of several dated values, for each of a few items."""

    name: ClassVar = "stale-fact"
    group: ClassVar = Group.JUDGE
    summary: ClassVar = "the latest dated values, where most seats hold outdated ones"
    openings: ClassVar = (
        "You work for a museum.",
        "Your desk is in the archive of a museum.",
        "You prepare an exhibition.",
    )
    statements: ClassVar = (*grammar_of(VALUATION), OFFER, EXHIBITED, QUESTION)

    def draw(self, draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> Drawn:
        """Three to eight paintings with three to five valuations: most seats hold one of these, single seats the rest.

        Chance is 0: the latest valuation of no painting is the answerer's.
        """
        answerer, *others = draw.shuffled(list(neighbours))
        paintings = [fresh.name() for _ in range(max(3, min(len(others), 8)))]
        sentences: dict[str, list[str]] = {seat: [] for seat in neighbours}
        facts = list[Fact]()
        for at, painting in enumerate(paintings):
            newest = others[at % len(others)]
            *older, latest = _days(draw, 3 + difficulty // 2)
            widespread = draw.choice(older)
            for day in older:
                most = [seat for seat in neighbours if seat != newest]
                holders = most if day == widespread else [draw.choice(others)]
                worth, certificate = fresh.number(), _certificate(draw, fresh, difficulty)
                for seat in holders:
                    sentences[seat] += _valuation(draw, painting, day, worth, certificate)
            worth = fresh.number()
            sentences[newest] += _valuation(draw, painting, latest, worth, _certificate(draw, fresh, difficulty))
            facts.append(Fact(painting, (newest,), number(worth)))
        for seat in neighbours:
            for _ in range(difficulty - 1):
                painting, day = draw.choice(paintings), draw.choice(_days(draw, 5))
                sentences[seat].append(OFFER.write(draw, painting=painting, date=day.isoformat(), worth=fresh.number()))
        asked = [EXHIBITED.write(draw, painting=painting) for painting in draw.shuffled(paintings)]
        return Drawn(" ".join([QUESTION.write(draw), *asked]), sentences, facts, answerer=answerer)

    def parts(self, drawn: Drawn, _neighbours: Neighbours) -> Sequence[Part]:
        """Each painting is a part, and follows from its latest valuation."""
        return [Part(fact.id, drawn.answerer or "", (fact.id,)) for fact in drawn.facts]

    def solve(self, setting: Setting) -> Answers:
        """The value of the latest date, by painting."""
        stated = (record for _, record in VALUATION.stated(setting))
        dated = [(record["painting"], record["date"], record.number("worth")) for record in stated]
        exhibited = sorted(record["painting"] for record in setting.each_asked(EXHIBITED.name))
        worths: dict[str, JsonValue] = {
            painting: max((date, worth) for each, date, worth in dated if each == painting)[1] for painting in exhibited
        }
        return dict.fromkeys(setting.answerers, worths)


def _days(draw: Draw, many: int) -> list[datetime.date]:
    """Ascending days. The first is any day of several years, so that no date by itself looks late."""
    days = [FIRST_DAY + datetime.timedelta(draw.below(2_000))]
    while len(days) < many:
        days.append(days[-1] + datetime.timedelta(draw.between(5, 300)))
    return days


def _certificate(draw: Draw, fresh: Fresh, difficulty: int) -> str | None:
    return fresh.code() if difficulty >= FIRST_DIFFICULTY and draw.chance(0.5) else None


def _valuation(draw: Draw, painting: str, day: datetime.date, worth: int, certificate: str | None) -> list[str]:
    if certificate is None:
        return [VALUATION.direct.write(draw, painting=painting, date=day.isoformat(), worth=worth)]
    return VALUATION.refer(draw, painting=painting, certificate=certificate, worth=worth, date=day.isoformat())
