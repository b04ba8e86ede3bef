"""What somebody understands a text to do: an act with the values in its roles, whatever they are."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from concord_assistant.meaning.acts import acts_in, enquires
from concord_assistant.meaning.case import Case, Seen
from concord_assistant.meaning.clauses import read
from concord_assistant.meaning.judging import MAX_TEXT, of_act
from concord_assistant.meaning.saying import Saying
from concord_assistant.meaning.saying import Understood as Verdict
from concord_assistant.meaning.targets import one_day, targets_of


@dataclass(frozen=True, slots=True)
class Understood:
    """An act as it was understood. `unclear`: it may be meant, but not how; `nothing`: it is not meant."""

    outcome: Literal["done", "unclear", "nothing"]
    values: Mapping[str, tuple[str, ...]]
    """By role, the values in one spelling. Several only if several may be done at once."""


NOTHING = Understood("nothing", {})


def understood(text: str, example: Saying, *, many: bool = False) -> Understood:
    """What a text does. `example` has the act, and for each role a value of the kind that is understood.

    "Please send 4,000 tyres" is understood as 4000 from the example "40 tyres". `many`: several values are several
    acts, instead of a contradiction.
    """
    reading = _values_of(text, example)
    if reading.act == "wrong":
        return NOTHING
    if reading.act == "not_understood" or reading.taken_back:
        return Understood("unclear" if reading.named else "nothing", {})
    unclear = reading.open or any(not found or (len(found) > 1 and not many) for found in reading.values.values())
    return Understood("unclear", {}) if unclear else Understood("done", reading.values)


def has_values(values: Mapping[str, str], saying: Saying) -> bool:
    """Whether values by role, in one spelling, are those of a saying."""
    for role, wordings in saying.values.items():
        named = [wordings] if isinstance(wordings, str) else wordings
        wanted = {target.value or wording.casefold() for wording in named for target in targets_of(wording)}
        if values.get(role) not in wanted:
            return False
    return True


@dataclass(frozen=True, slots=True)
class _ValuesRead:
    """What a text says in the roles of an act. `act`: whether it performs the act."""

    act: Verdict
    values: Mapping[str, tuple[str, ...]]
    open: bool
    """Whether values are left open, or said and denied."""
    taken_back: bool

    @property
    def named(self) -> bool:
        """Whether there is any value."""
        return self.open or any(self.values.values())


def _values_of(text: str, example: Saying) -> _ValuesRead:
    """The values of a text in the roles of an act, of the kinds that the values of `example` have."""
    if len(text) > MAX_TEXT:
        return _ValuesRead("not_understood", {}, open=False, taken_back=False)
    reading = read(text)
    case = Case(reading, acts_in(reading), example, {}, 0)
    values, left_open, seen = dict[str, tuple[str, ...]](), False, list[Seen]()
    for role, wordings in example.values.items():
        named = [wordings] if isinstance(wordings, str) else wordings
        found = [replace(each, fits=each.status == "said") for each in case.seen(named)]
        seen += found
        said = one_day(dict.fromkeys(each.value for each in found if each.status == "said"), named[0])
        values[role] = tuple(said)
        left_open |= any(each.status == "open" or (each.status == "denied" and each.value in said) for each in found)
    act = of_act(case, seen).understood if example.act != "inform" else "right"
    if example.act == "order" and act == "not_understood" and enquires(reading):
        act = "wrong"
    return _ValuesRead(act, values, left_open, reading.is_uncertain)
