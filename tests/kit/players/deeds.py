"""What a single seat does wrong, in a team that otherwise plays well."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from pydantic import JsonValue

from concord.suite import Fact, Kind
from tests.kit.players.teams import Habits, Telling


@dataclass
class AboutAFact(Habits):
    """One seat does something else with one fact."""

    seat: str
    fact: Fact
    told_plainly: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.told_plainly = frozenset({self.fact.id})

    def tells(self, telling: Telling) -> Iterable[Telling]:
        if telling.sender != self.seat or all(fact.id != self.fact.id for fact in telling.facts):
            return [telling]
        rest = telling.only(fact for fact in telling.facts if fact.id != self.fact.id)
        return [rest, *self.instead(telling.only([self.fact]))]

    def instead(self, telling: Telling) -> Iterable[Telling]:
        """What the seat tells of the fact instead of what was planned."""
        del telling
        return []


class Withheld(AboutAFact):
    """Tells nobody."""


@dataclass
class ToAnother(AboutAFact):
    """Tells another receiver."""

    receiver: str

    def instead(self, telling: Telling) -> Iterable[Telling]:
        return [replace(telling, receiver=self.receiver)]


@dataclass
class Changed(AboutAFact):
    """Tells a wrong value."""

    wrong: Fact

    def tells(self, telling: Telling) -> Iterable[Telling]:
        if telling.sender != self.seat:
            return [telling]
        return [telling.only(self.wrong if fact.id == self.fact.id else fact for fact in telling.facts)]


@dataclass
class Late(AboutAFact):
    """Tells it in a certain round."""

    round: int
    last: int | None = None
    """The round in which all answer, if not in the planned one."""

    def instead(self, telling: Telling) -> Iterable[Telling]:
        return [replace(telling, round=self.round)]

    def answer_in(self, seat: str, planned: int) -> int | None:
        del seat
        return self.last or planned


@dataclass
class Answering(Habits):
    """One seat answers otherwise."""

    seat: str
    planned: int | None = None
    """The round in which it answers instead."""
    instead: JsonValue = None
    """What it answers instead."""
    never: bool = False

    def answer_in(self, seat: str, planned: int) -> int | None:
        if seat == self.seat and self.never:
            return None
        return self.planned if seat == self.seat and self.planned is not None else planned

    def answer(self, seat: str, answer: JsonValue) -> JsonValue:
        return self.instead if seat == self.seat and self.instead is not None else answer


@dataclass
class Turns(Habits):
    """One seat's turns end in a certain way."""

    seat: str
    state: Literal["unreadable", "late", "failed"]

    def turn(self, seat: str) -> Literal["replied", "unreadable", "late", "failed"]:
        return self.state if seat == self.seat else "replied"


@dataclass
class Beside(Habits):
    """Somebody tells a wrong fact beside the plan, and seats pass it on."""

    extra: Sequence[Telling]
    answered: int | None = None
    """The round in which all answer, if not in the planned one."""
    believes_the_last: bool = True

    def adds(self, number: int) -> Iterable[Telling]:
        return [each for each in self.extra if each.round == number]

    def answer_in(self, seat: str, planned: int) -> int | None:
        del seat
        return self.answered or planned


@dataclass
class Twice(Changed):
    """Tells the truth and a wrong value in one message, or in two of one round. Its receiver believes the wrong one, of
    a day both."""

    in_one: bool

    def tells(self, telling: Telling) -> Iterable[Telling]:
        for changed in super().tells(telling):
            if self.wrong not in changed.facts or telling.sender != self.seat:
                yield changed
            elif self.in_one:
                yield changed.only([self.fact, *changed.facts])
            else:
                yield from (telling, telling.only([self.wrong]))

    def hears(self, telling: Telling) -> Telling:
        if telling.sender != self.seat or self.fact.value.kind is Kind.DATE:
            return telling
        return telling.only(fact for fact in telling.facts if fact != self.fact)


@dataclass
class CutOff(AboutAFact):
    """Writes so much before it that its end is cut off."""

    limit: int
    with_the_rest: bool

    def tells(self, telling: Telling) -> Iterable[Telling]:
        return [telling] if self.with_the_rest else super().tells(telling)

    def instead(self, telling: Telling) -> Iterable[Telling]:
        return [telling]

    def writes(self, telling: Telling, text: str) -> str:
        if telling.sender != self.seat or self.fact not in telling.facts:
            return text
        said = "I have read my notes with great care and will come to the point soon. "
        return said * (1 + self.limit // len(said)) + text


@dataclass
class Aggregated(Habits):
    """One seat tells a wrong result instead of the facts that it stands for. Seats pass it on as they would a fact."""

    seat: str
    covered: frozenset[str]
    wrong: Fact
    """With the id of one of the facts."""
    told_plainly: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.told_plainly = self.covered

    def tells(self, telling: Telling) -> Iterable[Telling]:
        ids = {fact.id for fact in telling.facts}
        if telling.sender != self.seat or ids.isdisjoint(self.covered):
            return [telling]
        return [telling.only([*(fact for fact in telling.facts if fact.id not in self.covered), self.wrong])]
