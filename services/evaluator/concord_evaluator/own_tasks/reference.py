"""The right value of an own task and its spellings, as its scorer tells them of a wrong answer."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from text_to_num import alpha2digit  # type: ignore[import-untyped]

from concord.assessment import TaskSpec
from concord.assessment.scorers import ExactScorer, IncludesScorer, JsonScorer, MatchScorer, NumericScorer
from concord.month_names import MONTH_PATTERN, month_number
from concord.suite import Kind
from concord.suite.value_reader import normalised, values_in
from concord_evaluator.scorers.json_scorer import wrong_values
from concord_evaluator.scorers.text_scorers import numbers_in

# The values that own tasks ask for, in the spellings of messages: times, dates, codes, numbers and names.
#
# A value is *distinctive* if two messages have it in common hardly by chance: a time that is not on the hour or the
# half hour; a date with its month; a code of letters and digits, five or more, at least two of them digits; a
# number of three significant digits or more (closing zeros do not count) that is no year; a name of four letters or
# more that is written with a capital.


class ValueKind(StrEnum):
    """The kinds of values."""

    TIME = "time"
    DATE = "date"
    CODE = "code"
    NUMBER = "number"
    NAME = "name"


DERIVABLE: Final = frozenset({ValueKind.TIME, ValueKind.DATE, ValueKind.NUMBER})
"""Values that may be computed from others, so that who says one first need not have it from anywhere else."""

_HALF: Final = r"(?P<half>\s*(?:a\.?m\b|p\.?m\b))?"
_CLOCK: Final = re.compile(
    rf"(?<![\d:.,])(?P<hour>\d{{1,2}})(?P<mark>[:h.]|\s)(?P<minute>\d{{2}})(?![\d:])(?!\.\d){_HALF}", re.IGNORECASE
)
_FOUR_DIGITS: Final = re.compile(
    r"(?<!\d)(?P<hour>[01]\d|2[0-3])(?P<minute>[0-5]\d)\s*(?:h|hrs|hours)\b", re.IGNORECASE
)
_RELATIVE: Final = re.compile(
    r"(?<!\w)(?P<minutes>\d{1,2}(?= minutes? )|[1-5]?[05](?= )|a quarter|quarter|half)(?: minutes?)? "
    r"(?P<way>past|to|before|after) "
    rf"(?P<hour>\d{{1,2}})(?!\d){_HALF}",
    re.IGNORECASE,
)
_NAMED_DAY: Final = re.compile(
    rf"(?<!\w)(?:(?P<month>{MONTH_PATTERN})\.?(?: the)? (?P<day>\d{{1,2}})(?:st|nd|rd|th)?"
    rf"|(?P<first>\d{{1,2}})(?:st|nd|rd|th)?(?: of|\.)? (?P<named>{MONTH_PATTERN}))(?![\w])",
    re.IGNORECASE,
)
_CODE: Final = re.compile(
    r"(?<![\w-])[A-Z]{1,4} \d{3,}(?![\w-])|(?<![\w/.-])[A-Za-z0-9]+(?:[-_/][A-Za-z0-9]+)*(?![\w/-])"
)
_UNIT: Final = re.compile(r"\d+(?:st|nd|rd|th|[a-z]{1,3})", re.IGNORECASE)
_NAME: Final = re.compile(r"(?<![\w'\u2019-])[^\W\d_a-z][^\W\d_]+(?:['\u2019-][^\W\d_]+)*")
_BEFORE: Final = " \t*_`\"'([#>|-"
"""What may stand between the end of a sentence and the next."""
_ENDS: Final = (".", "!", "?", ";", "}", "\n")
_YEARS: Final = range(1900, 2101)
_LONGEST_NAME: Final = 4
_SHORTEST_NAME: Final = 4
_DURATION: Final = re.compile(
    r"\b(?:\d+ ?(?:h|m|min|d)|hours?|minutes?|mins?|days?|nights?|weeks?|months?|years?|duration|takes?|took|lasts?|"
    r"delay(?:ed)?|later?|earlier|before|after|past)\b",
    re.IGNORECASE,
)
_VAGUE: Final = re.compile(r"\b(?:half|quarter|dozen|noon|midnight|twice|double|couple)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True, order=True)
class TextValue:
    """A value in its one canonical spelling."""

    kind: ValueKind
    text: str


@dataclass(frozen=True, slots=True)
class Token:
    """A value in a text, in all ways in which it can be read, and where it stands in the text that was read."""

    readings: frozenset[TextValue]
    text: str


def spelled(text: str) -> str:
    """The text without markup and typographic variants, with number words as digits."""
    plain: str = alpha2digit(normalised(text), "en")
    return plain


def tokens_in(plain: str) -> Iterator[Token]:
    """The values in a spelled text, apart from names. A text that can be read in two ways has both readings."""
    for pattern, read in _READERS:
        for match in pattern.finditer(plain):
            if readings := frozenset(read(match)):
                yield Token(readings, match[0].strip())
    for found in values_in(plain):
        if found.value.kind is Kind.DATE:
            iso = found.value.text
            yield Token(frozenset({TextValue(ValueKind.DATE, iso), TextValue(ValueKind.DATE, f"-{iso[4:]}")}), iso)
    for number in numbers_in(plain):
        yield Token(frozenset({TextValue(ValueKind.NUMBER, str(number.value))}), number.text)


def names_in(text: str) -> Iterator[Token]:
    """The names in a text, word by word: those with a capital, without such as only begin a sentence."""
    alone = bool(name_of(text.strip(" .!*_`\"'\n")))
    for match in _NAME.finditer(text):
        name = match[0]
        if len(name) >= _SHORTEST_NAME and (alone or not _begins_sentence(text, match.start())):
            yield Token(frozenset({TextValue(ValueKind.NAME, name.casefold())}), name)


def name_of(text: str) -> frozenset[TextValue]:
    """The reading of a text that is one name of up to four words, all but small ones with a capital; else empty."""
    words = text.split()
    large = [word for word in words if not word.islower()]
    if not large or len(words) > _LONGEST_NAME or not all(map(_NAME.fullmatch, large)) or words[0].islower():
        return frozenset()
    return frozenset({TextValue(ValueKind.NAME, text.casefold())}) if len(text) >= _SHORTEST_NAME else frozenset()


def _begins_sentence(text: str, at: int) -> bool:
    before = text[max(0, at - 10) : at].rstrip(_BEFORE)
    return before.endswith(_ENDS) or (not before and at <= 10)


def figures_in(plain: str) -> frozenset[str]:
    """All runs of digits in a spelled text, and words that stand for a figure."""
    return frozenset(re.findall(r"\d+", plain)) | frozenset(word.casefold() for word in _VAGUE.findall(plain))


def may_be_derived(kinds: frozenset[ValueKind], plain: str, figures: frozenset[str]) -> bool:
    """Whether a value of these kinds may be computed from figures in a spelled text, beside other values of the kind.

    A time or a date is only computed from a duration.
    """
    if ValueKind.NUMBER in kinds:
        return bool(figures)
    return bool(figures) and _DURATION.search(plain) is not None


def is_distinctive(value: TextValue) -> bool:
    """Whether two messages hardly have the value in common by chance; the module says by what rule."""
    if value.kind is ValueKind.TIME:
        return value.text[-2:] not in {"00", "30"}
    if value.kind is ValueKind.NUMBER:
        digits = re.sub(r"\D", "", value.text).strip("0")
        return len(digits) >= 3 and not (value.text.isdigit() and int(value.text) in _YEARS)
    return True


def _clock(match: re.Match[str]) -> Iterator[TextValue]:
    half = _half(match["half"])
    if match["mark"].isspace() and half is None:
        return
    yield from _times(int(match["hour"]), int(match["minute"]), half)


def _four_digits(match: re.Match[str]) -> Iterator[TextValue]:
    yield TextValue(ValueKind.TIME, f"{match['hour']}:{match['minute']}")


def _relative(match: re.Match[str]) -> Iterator[TextValue]:
    words = {"half": 30, "quarter": 15, "a quarter": 15}
    said = match["minutes"].casefold()
    minutes = words.get(said) or int(said)
    if minutes < 60:
        way = -minutes if match["way"].casefold() in {"to", "before"} else minutes
        hour, minute = divmod(int(match["hour"]) * 60 + way, 60)
        yield from _times(hour % 24, minute, _half(match["half"]), twelve=int(match["hour"]) <= 12)


def _half(said: str | None) -> str | None:
    return None if said is None else said.strip().casefold()[0]


def _times(hour: int, minute: int, half: str | None, *, twelve: bool | None = None) -> Iterator[TextValue]:
    """The times that a spelling may mean: without am or pm, an hour up to 12 means two."""
    if hour > 23 or minute > 59:
        return
    both = hour <= 12 if twelve is None else twelve
    hours = {hour} if half is None else {hour % 12 + (12 if half == "p" else 0)}
    if half is None and both:
        hours |= {hour % 12, hour % 12 + 12}
    for each in sorted(hours):
        yield TextValue(ValueKind.TIME, f"{each:02}:{minute:02}")


def _day(match: re.Match[str]) -> Iterator[TextValue]:
    month, day = month_number(match["month"] or match["named"]), int(match["day"] or match["first"])
    if 1 <= day <= 31:
        yield TextValue(ValueKind.DATE, f"--{month:02}-{day:02}")


def _code(match: re.Match[str]) -> Iterator[TextValue]:
    bare = re.sub(r"[-_/ ]", "", match[0]).upper()
    digits = sum(each.isdigit() for each in bare)
    if len(bare) >= 5 and 2 <= digits < len(bare) and not _UNIT.fullmatch(match[0]):
        yield TextValue(ValueKind.CODE, bare)


_READERS: Final[tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Iterator[TextValue]]], ...]] = (
    (_CLOCK, _clock),
    (_FOUR_DIGITS, _four_digits),
    (_RELATIVE, _relative),
    (_NAMED_DAY, _day),
    (_CODE, _code),
)


# What the scorer of an own task tells of a wrong answer: the right value, and the values that may be the wrong one.

_MOST_WORDS: Final = 4
"""Words of a target that is one value; a longer one is free text."""


@dataclass(frozen=True, slots=True)
class Reference:
    """One value that an answer should have.

    `right`: its accepted readings. `stated`: the values of its kinds that the answer has instead. `alone`: whether the
    answer has a place for the value, so that what stands there is meant as such. `explained`: other values that are
    right in the same answer.
    """

    right: frozenset[TextValue]
    stated: tuple[Token, ...]
    alone: bool = False
    explained: frozenset[TextValue] = frozenset()

    @property
    def kinds(self) -> frozenset[ValueKind]:
        """The kinds of the right value."""
        return frozenset(value.kind for value in self.right)


def references(task: TaskSpec, answer: str) -> list[Reference]:
    """The values that a wrong answer should have. Empty where the task has no target, or one that is free text."""
    if isinstance(task.scorer, JsonScorer):
        return list(_of_json(task.scorer, answer))
    targets = [value_of(target) for target in task.target or []]
    if task.scorer is None or not targets or not all(targets):
        return []
    if isinstance(task.scorer, IncludesScorer) and task.scorer.match_all:
        return list(_of_all(targets, answer))
    right = frozenset[TextValue]().union(*targets)
    found = _reference(right, answer, *_place(task, answer))
    return [replace(found, stated=found.stated[-1:]) if isinstance(task.scorer, NumericScorer) else found]


def value_of(text: str) -> frozenset[TextValue]:
    """All readings of a text that is one value, apart from up to three words around it. Empty for free text."""
    if len(text.split()) > _MOST_WORDS:
        return frozenset()
    found = list(tokens_in(spelled(text)))
    if not found:
        return name_of(text.strip())
    longest = max(len(token.text) for token in found)
    kinds = {value.kind for token in found if len(token.text) == longest for value in token.readings}
    return frozenset(value for token in found for value in token.readings if value.kind in kinds)


def _place(task: TaskSpec, answer: str) -> tuple[str, bool]:
    """The part of an answer that the scorer compares, and whether it is one value."""
    match task.scorer:
        case ExactScorer() | MatchScorer(location="exact"):
            return answer, len(answer.split()) <= _MOST_WORDS
        case NumericScorer() | MatchScorer(location="end"):
            return answer.rstrip().rpartition("\n")[2], False
    return answer, False


def _of_json(scorer: JsonScorer, answer: str) -> Iterator[Reference]:
    wrong = wrong_values(scorer, answer)
    unequal = [wanted for wanted, _ in wrong]
    explained = frozenset[TextValue]().union(
        *(value_of(str(value)) for value in scorer.values.values() if value not in unequal and _is_one(value))
    )
    for wanted, found in wrong:
        if _is_one(wanted) and (right := value_of(str(wanted))):
            readings = value_of(str(found)) if _is_one(found) else frozenset()
            stated = (Token(readings, str(found)),) if readings else ()
            yield Reference(right, stated, alone=True, explained=explained - right)


def _is_one(value: object) -> bool:
    return isinstance(value, str | int | float) and not isinstance(value, bool)


def _of_all(targets: Sequence[frozenset[TextValue]], answer: str) -> Iterator[Reference]:
    """The missing ones of several wanted values. Only for a single one it is clear what the answer has instead."""
    present = frozenset(_values_in(answer))
    missing = [target for target in targets if not target & present]
    for target in missing:
        explained = frozenset[TextValue]().union(*targets) - target
        found = _reference(target, answer, answer, False)
        stated = found.stated if len(missing) == 1 else ()
        yield Reference(target, tuple(each for each in stated if not each.readings & explained), False, explained)


def _reference(right: frozenset[TextValue], answer: str, place: str, alone: bool) -> Reference:
    kinds = {value.kind for value in right}
    tokens = [*tokens_in(spelled(place)), *(names_in(place) if ValueKind.NAME in kinds else ())]
    if right & frozenset(_values_in(answer)):
        return Reference(right, (), alone)
    stated = {token.readings: token for token in tokens if any(value.kind in kinds for value in token.readings)}
    return Reference(right, tuple(stated.values()), alone)


def _values_in(text: str) -> Iterable[TextValue]:
    return (value for token in (*tokens_in(spelled(text)), *names_in(text)) for value in token.readings)
