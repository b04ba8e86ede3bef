"""What a seat concludes from the facts that it believes, by the family's own solver."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import JsonValue

from concord.suite import Draw, Fact, SuiteTask
from concord_suites.family import Setting, TextFamily, setting_of
from concord_suites.grammar import StatedRecord
from tests.kit.players.plans import needs_by_seat
from tests.kit.players.silent import guesses

_CODE = re.compile(r"[A-Z]{2}-\d{5}")


@dataclass
class Mind:
    """Answers of seats that believe some facts, true or wrong."""

    family: TextFamily
    task: SuiteTask
    setting: Setting = field(init=False)
    solution: Mapping[str, JsonValue] = field(init=False)
    """The right answers."""
    luck: str = field(default="", init=False)
    """Teams with different words here have luck of their own with the same task."""

    def __post_init__(self) -> None:
        self.setting = setting_of(self.family, self.task)
        self.solution = self.family.solve(self.setting)
        self._facts = {fact.id: fact for fact in self.task.facts}
        self._needs = needs_by_seat(self.task)
        self._stating = {
            (fact.id, seat): _stating(fact, self.setting.briefs[seat])
            for fact in self.task.facts
            for seat in fact.holders
        }

    def answer(self, seat: str, believed: Collection[Fact], draw: Draw) -> JsonValue:
        """The seat's answer: right if it believes all that its parts need, else what follows, else a guess.

        A wrong fact has the id of the right one and another value. A seat may believe both.
        """
        needs = self._needs.get(seat, self._facts)
        relevant = {fact for fact in believed if fact.id in needs}
        if relevant == {self._facts[need] for need in needs}:
            return self.solution.get(seat)
        answer = self.concluded(believed).get(seat)
        tried = (guess(self.family, self.task, seat, draw) for guess in draw.shuffled(guesses(self.family)))
        return answer if answer is not None else next((guess for guess in tried if guess is not None), seat)

    def concluded(self, believed: Collection[Fact]) -> Mapping[str, JsonValue]:
        """The answers that follow from facts, right or wrong; none where nothing does."""
        try:
            return self.family.solve(self._world(believed))
        except (LookupError, ValueError, ArithmeticError):
            return {}

    def _world(self, believed: Collection[Fact]) -> Setting:
        """All briefs without the facts that are not believed, and with the wrong values of wrong ones.

        Where several values of a fact are believed, each holder has told another of them.
        """
        told: dict[str, list[Fact]] = {fact_id: [] for fact_id in self._facts}
        for fact in believed:
            told[fact.id].append(fact)
        briefs = {seat: list(records) for seat, records in self.setting.briefs.items()}
        dropped: dict[str, set[int]] = {seat: set() for seat in briefs}
        for (fact_id, seat), places in self._stating.items():
            right, variants = self._facts[fact_id], told[fact_id]
            if not variants:
                dropped[seat] |= self._with_references(seat, places)
                continue
            fact = variants[right.holders.index(seat) % len(variants)]
            for place in places if fact != right else ():
                record = briefs[seat][place]
                fields = {
                    name: fact.value.text if text == right.value.text else text for name, text in record.fields.items()
                }
                briefs[seat][place] = StatedRecord(record.statement, fields)
        kept = {
            seat: [each for place, each in enumerate(records) if place not in dropped[seat]]
            for seat, records in briefs.items()
        }
        return Setting(self.setting.question, kept, self.setting.neighbours)

    def _with_references(self, seat: str, places: frozenset[int]) -> set[int]:
        """The records that state a fact, and those that refer to them by a code and state no other fact."""
        records = self.setting.briefs[seat]
        codes = {text for place in places for text in records[place].fields.values() if _CODE.fullmatch(text)}
        others = {place for (_, other), stating in self._stating.items() if other == seat for place in stating - places}
        return set(places) | {
            place
            for place, record in enumerate(records)
            if place not in others and not codes.isdisjoint(record.fields.values())
        }


def _stating(fact: Fact, records: Sequence[StatedRecord]) -> frozenset[int]:
    """The places of the records that state a fact."""
    holding = [place for place, each in enumerate(records) if fact.value.text in each.fields.values()]
    if fact.anchor is not None:
        both = [place for place in holding if fact.anchor.text in records[place].fields.values()]
        if both:
            return frozenset(both)
        codes = {
            text
            for each in records
            if fact.anchor.text in each.fields.values()
            for text in each.fields.values()
            if _CODE.fullmatch(text)
        }
        holding = [place for place in holding if not codes.isdisjoint(records[place].fields.values())]
    return frozenset(holding)
