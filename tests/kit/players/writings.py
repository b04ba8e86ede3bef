"""Ways to write facts down, each used for all that a team says."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from itertools import cycle, zip_longest
from typing import Final

from pydantic import JsonValue

from concord.suite import Fact, Kind, SuiteTask, Value

Writing = Callable[[SuiteTask, Sequence[Fact]], str]
"""The text in which a seat tells another facts; there is at least one."""

_ONES: Final = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
    "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_TENS: Final = ("", "", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_DATE_ORDERS: Final = (
    "%d/%m/%Y", "%A, %B %d, %Y", "%d-%b-%Y", "%Y.%m.%d", "%Y %B %d", "%d. %B %Y", "%B the %dth, %Y",
    "the {day} of %B %Y",
)  # fmt: skip
_SPELLINGS: Final = ("{:,}", "{:,}kg", "{}", "{:_}", "{:,} g", "{}kg")
_ORDINALS: Final = {1: "first", 2: "second", 3: "third", 5: "fifth", 8: "eighth", 9: "ninth", 12: "twelfth"}


def _plain(value: Value) -> str:
    return value.text


def _label(fact: Fact) -> str:
    """What a fact says its value of: its anchor, else its id, such as "reading of agent/2"."""
    return fact.anchor.text if fact.anchor else fact.id


def _sentences(facts: Sequence[Fact], spelled: Callable[[Value], str] = _plain) -> str:
    return " ".join(
        f"{spelled(fact.anchor) if fact.anchor else f'The {fact.id}'} is {spelled(fact.value)}." for fact in facts
    )


def number_in_words(number: int) -> str:
    """A number below a thousand million in British English: 48213 is forty-eight thousand two hundred and thirteen."""
    for size, name in ((1_000_000, "million"), (1_000, "thousand")):
        if number >= size:
            high, low = divmod(number, size)
            link = " and " if 0 < low < 100 else " "
            return f"{number_in_words(high)} {name}{link + number_in_words(low) if low else ''}"
    if number >= 100:
        high, low = divmod(number, 100)
        return f"{_ONES[high]} hundred{f' and {number_in_words(low)}' if low else ''}"
    if number < 20:
        return _ONES[number]
    high, low = divmod(number, 10)
    return _TENS[high] + (f"-{_ONES[low]}" if low else "")


def ordinal_in_words(number: int) -> str:
    """A number from 1 to 99: 21 is twenty-first."""
    if number > 20 and number % 10:
        return f"{_TENS[number // 10]}-{ordinal_in_words(number % 10)}"
    return _ORDINALS.get(number, f"{number_in_words(number)}th".replace("yth", "ieth"))


def _in_words(value: Value, form: str = "words") -> str:
    if value.kind is not Kind.NUMBER:
        return value.text
    return number_in_words(int(value.text)) if form == "words" else _half_in_words(int(value.text))


def _half_in_words(number: int) -> str:
    """The number as 48 thousand 213, or 2 million 48 thousand 213."""
    millions, rest = divmod(number, 1_000_000)
    thousands, rest = divmod(rest, 1_000)
    parts = (f"{millions} million" * bool(millions), f"{thousands} thousand" * bool(thousands), f"{rest}" * bool(rest))
    return " ".join(part for part in parts if part)


def _dated(value: Value, order: str) -> str:
    if value.kind is not Kind.DATE:
        return value.text
    day = date.fromisoformat(value.text)
    return day.strftime(order).format(day=ordinal_in_words(day.day))


def _separated(value: Value, form: str) -> str:
    match value.kind:
        case Kind.NUMBER:
            return form.format(int(value.text))
        case Kind.CODE:
            return value.text.replace("-", " - ")
        case _:
            return value.text


def _by_turns(facts: Sequence[Fact], spelled: Callable[[Value, str], str], forms: Sequence[str]) -> str:
    """Lines, each with the next of the forms."""
    turns = zip(facts, cycle(forms), strict=False)
    return "\n".join(_sentences([fact], lambda value, form=form: spelled(value, form)) for fact, form in turns)  # type: ignore[misc]


def _table(facts: Sequence[Fact]) -> str:
    return "\n".join(["| item | value |", "|---|---|", *(f"| {_label(fact)} | {fact.value.text} |" for fact in facts)])


def _wide_table(facts: Sequence[Fact]) -> str:
    """A column for each fact; facts of one label, such as a person's rank and hours, stand below each other."""
    values: dict[str, list[str]] = {}
    for fact in facts:
        values.setdefault(_label(fact), []).append(fact.value.text)
    rows = [list(values), ["---"] * len(values), *zip_longest(*values.values(), fillvalue="")]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _objects(facts: Sequence[Fact]) -> str:
    found: list[JsonValue] = [{"item": _label(fact), "value": _member(fact.value)} for fact in facts]
    return json.dumps({"type": "inform", "facts": found}, indent=2)


def _member(value: Value) -> JsonValue:
    return json.loads(value.text) if value.kind is Kind.NUMBER or value.text[0] in "[{" else value.text


def _wrapped(facts: Sequence[Fact]) -> str:
    return (
        "Good morning everyone, and thank you all for your patience, it has been quite a day over here! I went through "
        f"my notes twice. {_sentences(facts)} I may well have forgotten something, so do ask if anything looks odd. "
        "Otherwise I would say we go ahead as planned. Best wishes to all of you!"
    )


def _quoted(task: SuiteTask, facts: Sequence[Fact]) -> str:
    """The briefs that hold the facts, word for word: of each fact, one holder's; and what no brief holds."""
    held = {fact.holders[0] for fact in facts if fact.holders}
    quotes = [f'The brief of {seat}:\n"{task.briefs[seat]}"' for seat in task.seats if seat in held]
    return "\n\n".join([*quotes, _sentences([fact for fact in facts if not fact.holders])])


WRITINGS: Final[Mapping[str, Writing]] = {
    "prose": lambda _, facts: _sentences(facts),
    "table": lambda _, facts: _table(facts),
    "wide table": lambda _, facts: _wide_table(facts),
    "JSON": lambda _, facts: _objects(facts),
    "list": lambda _, facts: "\n".join(f"- {_label(fact)}: {fact.value.text}" for fact in facts),
    "numbers in words": lambda _, facts: _by_turns(facts, _in_words, ("words", "half in words")),
    "other orders of dates": lambda _, facts: _by_turns(facts, _dated, _DATE_ORDERS),
    "words around": lambda _, facts: _wrapped(facts),
    "separators and units": lambda _, facts: _by_turns(facts, _separated, _SPELLINGS),
    "upper case": lambda _, facts: _sentences(facts).upper(),
    "key=value lines": lambda _, facts: "\n".join(
        f"{_label(fact).replace(' ', '_')}={fact.value.text}" for fact in facts
    ),
    "CSV": lambda _, facts: "\n".join(["item,value", *(f"{_label(fact)},{fact.value.text}" for fact in facts)]),
    "quoted briefs": _quoted,
}
"""By name. An anchor stands with its value, and everything else is left to the reader."""


def answer_of(seat: str, answer: JsonValue) -> Fact:
    """A seat's answer, as something to write down."""
    return Fact(
        f"answer of {seat}", (), Value(_kind_of(answer), answer if isinstance(answer, str) else json.dumps(answer))
    )


def _kind_of(answer: JsonValue) -> Kind:
    text = str(answer)
    if text.isdigit():
        return Kind.NUMBER
    if re.fullmatch(r"[A-Z]{2}-\d{5}", text):
        return Kind.CODE
    return Kind.DATE if re.fullmatch(r"\d{4}-\d\d-\d\d", text) else Kind.WORD
