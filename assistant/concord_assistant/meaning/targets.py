"""The values that a text has to say, as they are compared with those that it has."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Final

from concord_assistant.meaning.values import CURRENCIES, MEASURES, WEEKDAYS, Found, Kind, find, normalised

_DAY: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_INSTANT: Final = re.compile(r"\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}.*)?")
_RATE: Final = frozenset({"per", "each", "a", "apiece", "pp"})


@dataclass(frozen=True, slots=True)
class Target:
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


def required_of(wordings: Sequence[str]) -> Iterator[Sequence[str]]:
    """The values that must all be said: an instant is a day and a time."""
    instants = [each for each in wordings if _INSTANT.fullmatch(each)]
    if not instants:
        yield wordings
        return
    rest = [each for each in wordings if each not in instants]
    yield [*(each[:10] for each in instants), *rest]
    if any("T" in each for each in instants):
        yield [each[11:16] for each in instants if "T" in each]


def targets_in(wordings: Sequence[str]) -> Iterator[Target]:
    """What the values of several wordings are compared as."""
    for wording in wordings:
        yield from targets_of(wording)


@lru_cache(maxsize=4096)
def targets_of(wording: str) -> tuple[Target, ...]:
    """What a value in one wording is compared as: a day both by its date and by its weekday."""
    if _DAY.fullmatch(wording):
        day = datetime.fromisoformat(wording)
        return Target("date", wording[5:]), Target("weekday", WEEKDAYS[day.weekday()])
    text = normalised(wording)
    values = find(text)
    if len(values) == 1 and not _rest_of(text, values[0]):
        found = values[0]
        units = frozenset({found.unit} if found.unit in CURRENCIES else found.after) - {""}
        return (Target(found.kind, found.options[0], units),)
    return (Target(None, words=words_of(wording)),)


def one_day(said: Mapping[str, None], wording: str) -> Mapping[str, None]:
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


def _rest_of(text: str, found: Found) -> bool:
    """Whether a wording has words besides its value and, after a number, its unit."""
    rest = text[: found.at] + (text[found.end :] if found.kind != "number" else "")
    return re.search(r"\w", rest) is not None


@lru_cache(maxsize=4096)
def words_of(wording: str) -> re.Pattern[str]:
    """Finds words as whole tokens, in any case and spacing."""
    parts = r"[\s-]+".join(re.escape(part) for part in re.split(r"[\s-]+", normalised(wording)))
    return re.compile(rf"(?<![\w@.-]){parts}(?:'s)?(?![\w@]|\.\w|-\w)", re.I)


@lru_cache(maxsize=4096)
def none_of(unit: str) -> re.Pattern[str]:
    """Finds words that deny a number of things."""
    return re.compile(rf"\b(?:no|not\s+any|without(?:\s+any)?)\s+{re.escape(unit)}\b", re.I)
