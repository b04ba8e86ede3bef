"""What a text has to say, and whether it says so: right, wrong or not understood."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from concord_assistant.meaning.acts import OPPOSITES, Act, Performed, acts_in, chooses_you, enquires
from concord_assistant.meaning.clauses import Clause, Reading, read
from concord_assistant.meaning.values import CURRENCIES, MEASURES, WEEKDAYS, Found, Kind, find, normalised

Understood = Literal["right", "wrong", "not_understood"]

MAX_TEXT: Final = 2_000
"""Characters of a text that are read. A longer one is not understood."""

Wording = Annotated[str, StringConstraints(min_length=1, max_length=200, strip_whitespace=True)]
Wordings = Annotated[list[Wording], Field(min_length=1, max_length=50)]
Role = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=50)]


class Saying(BaseModel):
    """An act and its values, which a text has to say.

    A value is written as a person would write it: "19 February", "15:00", "GBP 444", "24 people", "RH-5521", an
    address, a number, or any other words. A list is one value in several wordings. An instant such as
    "2026-02-19T19:30:00Z" is a day and a time, and "2026-02-19" is a day, by its date or weekday.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    act: Act = "inform"
    values: dict[Role, Wording | Wordings] = {}
    about: Wordings | None = None
    """Words, one of which names the matter. Of several statements in a text, the values nearest to them are meant."""
    besides: list[Wording] = []
    """Values that the text may give too."""
    never: list[Wording] = []
    """Values for which the act would be wrong."""
    or_proposes: bool = False
    """Whether a question that proposes the values says so too: "how about 15:00?"."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether a text says what it has to say, and why."""

    understood: Understood
    why: str
    silent: bool = False
    """Whether the text says nothing about it."""
    has_values: bool = False
    """Of a text that is not understood: whether it has every value, whatever it says of them."""


def judge(text: str, saying: Saying) -> Judgement:
    """Whether a text says one thing."""
    return judge_all(text, [saying])[0]


def judge_all(text: str, sayings: Sequence[Saying]) -> list[Judgement]:
    """Whether a text says each of several things. Values belong to the thing whose words (`about`) are nearest."""
    if len(text) > MAX_TEXT:
        return [Judgement("not_understood", f"the text is longer than {MAX_TEXT} characters")] * len(sayings)
    reading = read(text)
    acts = acts_in(reading)
    owners = _owners(reading, sayings)
    return [_judged(_Case(reading, acts, saying, owners, number)) for number, saying in enumerate(sayings)]


@dataclass(frozen=True, slots=True)
class ValuesRead:
    """What a text says in the roles of an act. `act`: whether it performs the act."""

    act: Understood
    values: Mapping[str, tuple[str, ...]]
    open: bool
    """Whether values are left open, or said and denied."""
    taken_back: bool

    @property
    def named(self) -> bool:
        """Whether there is any value."""
        return self.open or any(self.values.values())


def values_of(text: str, example: Saying) -> ValuesRead:
    """The values of a text in the roles of an act, of the kinds that the values of `example` have."""
    if len(text) > MAX_TEXT:
        return ValuesRead("not_understood", {}, open=False, taken_back=False)
    reading = read(text)
    case = _Case(reading, acts_in(reading), example, {}, 0)
    values, left_open, seen = dict[str, tuple[str, ...]](), False, list[_Seen]()
    for role, wordings in example.values.items():
        named = [wordings] if isinstance(wordings, str) else wordings
        found = [replace(each, fits=each.status == "said") for each in case.seen(named)]
        seen += found
        said = _one_day(dict.fromkeys(each.value for each in found if each.status == "said"), named[0])
        values[role] = tuple(said)
        left_open |= any(each.status == "open" or (each.status == "denied" and each.value in said) for each in found)
    act = _of_act(case, seen).understood if example.act != "inform" else "right"
    if example.act == "order" and act == "not_understood" and enquires(reading):
        act = "wrong"
    return ValuesRead(act, values, left_open, reading.is_uncertain)


def _one_day(said: Mapping[str, None], wording: str) -> Mapping[str, None]:
    """The values of a role. A day by its date and its weekday is one value, with the year and month of the example."""
    if not _DAY.fullmatch(wording):
        return said
    day = datetime.fromisoformat(wording)
    dates = dict.fromkeys(each.replace("*", f"{day.month:02}") for each in said if each not in WEEKDAYS)
    known = {WEEKDAYS[date.weekday()] for each in dates if (date := _date_in(day.year, each))}
    return {**dates, **{each: None for each in said if each in WEEKDAYS and each not in known}}


def _date_in(year: int, month_and_day: str) -> datetime | None:
    try:
        return datetime.fromisoformat(f"{year}-{month_and_day}")
    except ValueError:
        return None


def has_values(values: Mapping[str, str], saying: Saying) -> bool:
    """Whether values by role, in one spelling, are those of a saying."""
    for role, wordings in saying.values.items():
        named = [wordings] if isinstance(wordings, str) else wordings
        wanted = {target.value or wording.casefold() for wording in named for target in targets_of(wording)}
        if values.get(role) not in wanted:
            return False
    return True


_Status = Literal["said", "denied", "asked", "open", "former"]


@dataclass(frozen=True, slots=True)
class _Seen:
    """A value of the text in the place of a role. `fits`: whether it is the right one."""

    text: str
    at: int
    fits: bool
    status: _Status
    value: str = ""
    """In one spelling."""
    named: bool = False
    """Whether it is a name or other words, rather than a value of some kind."""


@dataclass(frozen=True, slots=True)
class _Target:
    """A value in one wording, as it is compared. `kind` is None for other words, which `words` finds."""

    kind: Kind | None
    value: str = ""
    units: frozenset[str] = frozenset()
    words: re.Pattern[str] | None = None

    def fits(self, found: Found) -> bool:
        """Whether a value of a text is this one."""
        if found.kind != self.kind:
            return False
        if self.kind == "phone":
            return any(min(len(each), len(self.value)) >= 9 and each[-9:] == self.value[-9:] for each in found.options)
        if self.kind == "date":
            return any(each == self.value or (each[0] == "*" and each[1:] == self.value[2:]) for each in found.options)
        if self.kind == "number":
            return self.value in found.options and self._unit_fits(found)
        return self.value in found.options

    def competes(self, found: Found) -> bool:
        """Whether another value of a text stands in the place of this one."""
        if found.kind != self.kind or self.kind in {"email", "phone"}:
            return False
        if self.kind == "code":
            return found.options[0].split("-")[0] == self.value.split("-")[0]
        if self.kind == "number":
            return self._same_unit(found) and (found.unit in self.units or found.unit not in MEASURES)
        return True

    def _unit_fits(self, found: Found) -> bool:
        if self.units & CURRENCIES:
            return found.unit in self.units or found.unit not in CURRENCIES | MEASURES
        return self._same_unit(found) or found.unit not in CURRENCIES | MEASURES

    def _same_unit(self, found: Found) -> bool:
        if self.units & CURRENCIES:
            return found.unit in self.units and not _RATE & set(found.after)
        if not self.units:
            return not found.unit
        return found.unit not in CURRENCIES and not self.units.isdisjoint(found.after)


@dataclass(frozen=True, slots=True)
class _Case:
    """One saying, and the text that has to say it."""

    reading: Reading
    acts: Sequence[Performed]
    saying: Saying
    owner: Mapping[int, int]
    """By the place of a value, the number of the saying that it belongs to."""
    number: int

    def seen(self, wordings: Sequence[str]) -> Iterator[_Seen]:
        """The values of the text that are, or stand in the place of, a value in one of the wordings."""
        targets = [target for wording in wordings for target in targets_of(wording)]
        besides = [target for wording in self.saying.besides for target in targets_of(wording)]
        for found in self.reading.values:
            if not self._is_own(found.at) or found.at in self.reading.open_ended:
                continue
            fitting = [each.value for each in targets if each.fits(found)]
            fits = bool(fitting)
            competes = not any(each.fits(found) for each in besides) and any(each.competes(found) for each in targets)
            if fits or competes:
                yield _Seen(
                    self.reading.text[found.at : found.end],
                    found.at,
                    fits,
                    self._status_of(found, targets),
                    (*fitting, found.options[0])[0],
                )
        for target in targets:
            for match in target.words.finditer(self.reading.text) if target.words else ():
                if self._is_own(match.start()):
                    yield _Seen(
                        match[0], match.start(), True, self._status(match.start()), match[0].casefold(), named=True
                    )

    def _is_own(self, at: int) -> bool:
        return self.owner.get(at, self.number) == self.number

    def _status_of(self, found: Found, targets: Sequence[_Target]) -> _Status:
        """The status of a value. "40 inner tubes, and no tyres" denies 40 tyres."""
        units = frozenset[str]().union(*(each.units for each in targets))
        denied = any(_none_of(unit).search(self.reading.text) for unit in units - CURRENCIES)
        return "denied" if denied else self._status(found.at)

    def _status(self, at: int) -> _Status:
        reading, act = self.reading, self.saying.act
        clause = reading.clause_of(at)
        if at in reading.former:
            return "former"
        near = self.near(at)
        performed = any(each.act == act and not each.denied for each in near)
        if at in reading.denied and not (performed and act in {"refuse", "cancel"}):
            return "denied"
        if (at in reading.refused and act != "refuse") or (at in reading.called_off and act in _HOLDS):
            return "denied"
        if act != "ask" and (
            at in reading.alternative or at in reading.restricted or (clause is not None and clause.supposed)
        ):
            return "open"
        if act != "ask" and clause is not None and self._asks(clause):
            return "asked"
        if act != "inform" and not performed and any(each.denied or each.act != act for each in near):
            return "denied"
        return "said"

    def _asks(self, clause: Clause) -> bool:
        """Whether a clause asks for what it should say."""
        answered = any(
            each.act == self.saying.act and each.strong and not (each.denied or each.open)
            for each in self.relevant
            if each.clause.sentence == clause.sentence + 1
        )
        proposed = self.saying.or_proposes and (clause.proposed or _FINITE.search(clause.text) is None)
        told = clause.requested or answered or proposed
        return clause.question and not told

    def near(self, at: int) -> list[Performed]:
        """The act or its opposites in a clause, else in the nearest one before it, else after it in the sentence."""
        about, clause = self.relevant, self.reading.clause_of(at)
        if clause is None or not about:
            return []
        own = [each for each in about if each.clause == clause]
        if own:
            return own
        before = [each for each in about if each.clause.at < clause.at]
        if _FINITE.search(clause.text):
            before = [each for each in before if each.clause.sentence == clause.sentence]
        after = [each for each in about if each.clause.at > clause.at and each.clause.sentence == clause.sentence]
        if before and (before[-1].clause.sentence == clause.sentence or not after):
            return [each for each in before if each.clause == before[-1].clause]
        return [each for each in after if each.clause == after[0].clause]

    @property
    def relevant(self) -> list[Performed]:
        """The performances of the act, and those of its opposites that leave no doubt."""
        act = self.saying.act
        return [each for each in self.acts if each.act == act or (each.act in OPPOSITES[act] and each.strong)]


def _judged(case: _Case) -> Judgement:
    judgement = _by_rules(case)
    if judgement.understood != "not_understood":
        return judgement
    wordings = ([each] if isinstance(each, str) else each for each in case.saying.values.values())
    required = [each for named in wordings for each in _required(named)]
    return replace(judgement, has_values=all(any(seen.fits for seen in case.seen(each)) for each in required))


def _by_rules(case: _Case) -> Judgement:
    saying, seen, found = case.saying, list[_Seen](), list[Judgement]()
    if saying.about is not None and (missing := _of_matter(case, saying.about)):
        return missing
    for wordings in saying.values.values():
        named = [wordings] if isinstance(wordings, str) else wordings
        for required in _required(named):
            values = list(case.seen(required))
            seen += values
            found.append(_of_values(values, required, case.reading))
    for never in saying.never:
        if any(each.fits and each.status == "said" for each in case.seen([never])):
            found.append(Judgement("wrong", f"it also says {never}"))
    if saying.act != "inform":
        found.append(_of_act(case, seen))
    for verdict in ("wrong", "not_understood"):
        if first := next((each for each in found if each.understood == verdict), None):
            silent = bool(saying.values) and not seen
            return Judgement(first.understood, first.why, silent)
    if case.reading.taken_back:
        return Judgement("not_understood", "it takes back what it says")
    if case.reading.hedged:
        return Judgement("not_understood", "it leaves open what it says")
    if case.reading.begins_with_no and saying.act in {"order", "accept", "cancel"}:
        return Judgement("not_understood", "it begins with a no")
    return Judgement("right", "it says so")


def _of_matter(case: _Case, about: Sequence[str]) -> Judgement | None:
    """Why the text does not speak of the matter."""
    text = case.reading.text
    places = [match.start() for word in about for match in _words(word).finditer(text)]
    if not places:
        return Judgement("wrong", f"it does not name {about[0]}", silent=True)
    if case.saying.act in {"order", "ask"} and all(at in case.reading.denied for at in places):
        return Judgement("wrong", f"it denies {about[0]}")
    return None


def _of_values(seen: Sequence[_Seen], wordings: Sequence[str], reading: Reading) -> Judgement:
    wanted = wordings[0]
    fitting = [each for each in seen if each.fits]
    said = [each for each in fitting if each.status == "said"]
    others = [each for each in seen if not each.fits and each.status == "said"]
    if not fitting:
        if _RELATIVE.search(reading.text) and any(each.kind in {"date", "weekday"} for each in _targets(wordings)):
            return Judgement("not_understood", f"it names a day by its distance, where {wanted} is meant")
        but = f", but {others[0].text}" if others else ""
        return Judgement("wrong", f"it does not say {wanted}{but}")
    if not said:
        if any(each.status == "open" for each in fitting):
            return Judgement("not_understood", f"it leaves {wanted} open")
        asked = any(each.status == "asked" for each in fitting)
        return Judgement("wrong", f"it asks about {wanted}" if asked else f"it denies {wanted}")
    if any(each.status == "denied" for each in fitting):
        return Judgement("not_understood", f"it says {wanted} and denies it")
    if any(each.status == "open" and each.at in reading.alternative for each in fitting):
        return Judgement("not_understood", f"it names {wanted} and an alternative")
    if others:
        return Judgement("not_understood", f"it names {wanted} and also {others[0].text}")
    return Judgement("right", f"it says {wanted}")


def _of_act(case: _Case, seen: Sequence[_Seen]) -> Judgement:
    """Whether the text performs the act. A clause with other values only says nothing about it."""
    act = case.saying.act
    own = _speaking_of(case, seen)
    performed = [each for each in own if each.act == act and not each.denied and not each.open]
    against = [each for each in own if (each.act == act) == each.denied and not each.open]
    if performed and against:
        return Judgement("not_understood", f"it says to {act} and the opposite")
    if performed and act == "order" and enquires(case.reading) and not any(each.strong for each in performed):
        return Judgement("not_understood", "it asks for a price, and may not order")
    if performed:
        return Judgement("right", f"it says to {act}")
    if against:
        return Judgement("wrong", f"it does not {act}: it says the opposite")
    return Judgement("wrong" if act == "ask" else "not_understood", f"no words to {act} were found")


def _speaking_of(case: _Case, seen: Sequence[_Seen]) -> list[Performed]:
    """The performances of the act and its opposites that may be meant.

    Of names, such as titles, a text may say different things: those count that are nearest to the right name.
    """
    refused = {each.clause.at for each in case.relevant if each.act == "refuse" and not each.denied}
    relevant = [
        each
        for each in case.relevant
        if not (case.saying.act == "refuse" != each.act and each.clause.at in refused and not chooses_you(each.clause))
        and not (each.act == "keep" and _OTHER.search(_sentence_before(case.reading, each.clause)))
    ]
    if seen and all(value.fits and value.named for value in seen):
        near = [each for value in seen for each in case.near(value.at)]
        return [each for each in relevant if each in near]
    own = []
    for each in relevant:
        values = [value for value in seen if each.clause.at <= value.at < each.clause.end]
        if not values or any(value.fits for value in values):
            own.append(each)
    return own


def _sentence_before(reading: Reading, clause: Clause) -> str:
    """A sentence up to the end of a clause."""
    return " ".join(each.text for each in reading.clauses if each.sentence == clause.sentence and each.at <= clause.at)


def _required(wordings: Sequence[str]) -> Iterator[Sequence[str]]:
    """The values that must all be said: an instant is a day and a time."""
    instants = [each for each in wordings if _INSTANT.fullmatch(each)]
    if not instants:
        yield wordings
        return
    rest = [each for each in wordings if each not in instants]
    yield [*(each[:10] for each in instants), *rest]
    if any("T" in each for each in instants):
        yield [each[11:16] for each in instants if "T" in each]


def _targets(wordings: Sequence[str]) -> Iterator[_Target]:
    for wording in wordings:
        yield from targets_of(wording)


@lru_cache(maxsize=4096)
def targets_of(wording: str) -> tuple[_Target, ...]:
    """What a value in one wording is compared as: a day both by its date and by its weekday."""
    if _DAY.fullmatch(wording):
        day = datetime.fromisoformat(wording)
        return _Target("date", wording[5:]), _Target("weekday", WEEKDAYS[day.weekday()])
    text = normalised(wording)
    values = find(text)
    if len(values) == 1 and not _rest_of(text, values[0]):
        found = values[0]
        units = frozenset({found.unit} if found.unit in CURRENCIES else found.after) - {""}
        return (_Target(found.kind, found.options[0], units),)
    return (_Target(None, words=_words(wording)),)


def _rest_of(text: str, found: Found) -> bool:
    """Whether a wording has words besides its value and, after a number, its unit."""
    rest = text[: found.at] + (text[found.end :] if found.kind != "number" else "")
    return re.search(r"\w", rest) is not None


@lru_cache(maxsize=4096)
def _words(wording: str) -> re.Pattern[str]:
    """Finds words as whole tokens, in any case and spacing."""
    parts = r"[\s-]+".join(re.escape(part) for part in re.split(r"[\s-]+", normalised(wording)))
    return re.compile(rf"(?<![\w@.-]){parts}(?:'s)?(?![\w@]|\.\w|-\w)", re.I)


@lru_cache(maxsize=4096)
def _none_of(unit: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:no|not\s+any|without(?:\s+any)?)\s+{re.escape(unit)}\b", re.I)


def _owners(reading: Reading, sayings: Sequence[Saying]) -> dict[int, int]:
    """By the place of a value, the saying whose words name its matter, where there are several.

    Values of one kind and as many matters in a sentence belong together in their order. Else the matter named before a
    value counts, and without one in the sentence, that of the sentence before.
    """
    anchors = sorted(
        (match.start(), number)
        for number, saying in enumerate(sayings)
        for word in saying.about or ()
        for match in _words(word).finditer(reading.text)
    )
    owners: dict[int, int] = {}
    with_matter = [number for number, saying in enumerate(sayings) if saying.about is not None]
    if len(with_matter) < 2:
        return _elsewhere(reading, anchors) if with_matter else owners
    last: int | None = None
    for at, end in _sentences(reading):
        here = [anchor for anchor in anchors if at <= anchor[0] < end]
        matters = [next(group) for _, group in groupby(here, key=lambda anchor: anchor[1])]
        for kind in {each.kind for each in reading.values}:
            values = [each.at for each in reading.values if each.kind == kind and at <= each.at < end]
            if len(matters) == len(values):
                owners |= {value: number for value, (_, number) in zip(values, matters, strict=True)}
            elif here:
                owners |= {value: _matter_of(value, here, values) for value in values}
            elif last is not None:
                owners |= dict.fromkeys(values, last)
        last = matters[-1][1] if matters else last
    return owners


def _elsewhere(reading: Reading, anchors: Sequence[tuple[int, int]]) -> dict[int, int]:
    """The values outside the matter's sentences, if these have values of their kind. They are nobody's: -1."""
    spans = [span for span in _sentences(reading) if any(span[0] <= at < span[1] for at, _ in anchors)]
    inside = {each.at for each in reading.values if any(at <= each.at < end for at, end in spans)}
    kinds = {each.kind for each in reading.values if each.at in inside}
    return {each.at: -1 for each in reading.values if each.kind in kinds and each.at not in inside}


def _sentences(reading: Reading) -> Iterator[tuple[int, int]]:
    for _, clauses in groupby(reading.clauses, key=lambda clause: clause.sentence):
        parts = list(clauses)
        yield parts[0].at, parts[-1].end


def _matter_of(value: int, anchors: Sequence[tuple[int, int]], values: Sequence[int]) -> int:
    """The matter before a value, where the matters are named first; else the one after it."""
    first = anchors[0][0] < values[0]
    beside = [each for each in anchors if (each[0] < value) == first] or list(anchors)
    return (beside[-1] if first else beside[0])[1]


_HOLDS: Final = frozenset({"inform", "accept", "order"})
"""Acts by which something takes place."""
_FINITE: Final = re.compile(r"\b(?:is|are|was|were|has|have|had|will|remains?|stays?)\b", re.I)
"""A verb by which a sentence is none of a list's items."""
_OTHER: Final = re.compile(r"\b(?:other|others|second|else|rest)\b", re.I)
"""What is kept beside that of which a text speaks."""
_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}.*)?")
_RATE: Final = frozenset({"per", "each", "a", "apiece", "pp"})
_RELATIVE: Final = re.compile(r"\b(?:today|tomorrow|tonight|the day after|next week|this week|in \d+ days)\b", re.I)
