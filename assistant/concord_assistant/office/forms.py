"""Forms: the lines `field: value` of a message, and which of several forms stand."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from concord.json_text import NoJsonError, documents_in
from concord_assistant.office.plan import Desk, KnownFact
from concord_assistant.office.values import canonical

MAX_TEXT: Final = 20_000

_QUOTE: Final = re.compile(r"\s*(?:>|\|>)")
_REPLY_MARK: Final = re.compile(r"\s*(?:-{2,} ?(?:original|forwarded) message ?-*|_{10,}|on .{5,200} wrote:)\s*", re.I)
"""What begins the text that a reply quotes without marks."""
_DECORATION: Final = re.compile(r"[*_`#]+|^\s*(?:[-+\u2022]|\d{1,2}[.)])\s+")
_AROUND: Final = " \t\"',;."
"""What stands around a value in prose and in JSON."""

_CELLS: Final = re.compile(r"\s*\|\s*")


@dataclass(frozen=True, slots=True)
class SentForm:
    """A message to a desk. `values`: of a valid form; `faults`: why it is none, in words for the sender."""

    at: datetime
    place: int
    """Of its action in the action log, from 1."""
    values: Mapping[str, str]
    faults: tuple[str, ...]

    @property
    def valid(self) -> bool:
        """Whether the desk acts on it."""
        return not self.faults


def read_form(desk: Desk, text: str) -> tuple[dict[str, str], tuple[str, ...]]:
    """The values of a form in a text, and its faults; without faults, the form is valid."""
    lines: dict[str, set[str]] = {}
    for name, value in _lines(text[:MAX_TEXT]):
        lines.setdefault(_plain(name), set()).add(value.strip())
    values, faults = dict[str, str](), list[str]()
    for field in desk.fields:
        given = lines.get(_plain(field.name), set()) - {""}
        found = {canonical(field.kind, each, field.options) for each in given}
        if not given:
            faults.append(f"{field.name} is missing")
        elif None in found:
            faults.append(f"{field.name} is not readable")
        elif len(found) > 1:
            faults.append(f"{field.name} is contradictory")
        else:
            values[field.name] = str(found.pop())
    return values, tuple(faults)


def standing(desk: Desk, sent: Iterable[SentForm]) -> dict[str, SentForm]:
    """The forms that stand, by reference: the last valid one in the desk's time, or the first one of final forms.

    Where each form counts, the second one with a reference stands under it and its place.
    """
    kept: dict[str, SentForm] = {}
    for each in sent:
        if not each.valid or not is_open(desk, each.at):
            continue
        reference = each.values[desk.reference]
        if desk.repeats and reference in kept:
            reference = f"{reference} {each.place}"
        if not (desk.final and reference in kept):
            kept[reference] = each
    return kept


def is_open(timed: Desk | KnownFact, moment: datetime) -> bool:
    """Whether a desk takes forms, or a fact may be told, at that time."""
    begun = timed.opens_at is None or timed.opens_at <= moment
    return begun and (timed.closes_at is None or moment <= timed.closes_at)


def form_text(desk: Desk) -> str:
    """The form as a desk sends it."""
    shown = (f"{each.name}: <{' or '.join(each.options) if each.options else each.kind}>" for each in desk.fields)
    return "\n".join([desk.title, *shown, "Only these lines are read."])


def filled(desk: Desk, values: Mapping[str, str]) -> str:
    """The text of a valid form."""
    return "\n".join(f"{each.name}: {values[each.name]}" for each in desk.fields)


def own_lines(text: str) -> list[str]:
    """The lines of a message that it does not quote from an earlier one."""
    own = list[str]()
    for line in text.splitlines():
        if _REPLY_MARK.fullmatch(line):
            break
        if not _QUOTE.match(line):
            own.append(line)
    return own


def _lines(text: str) -> Iterator[tuple[str, str]]:
    """The fields and values of lines, table rows and JSON objects, without what the text quotes."""
    own = own_lines(text)
    yield from _members("\n".join(own))
    for line in own:
        plain = _DECORATION.sub("", line).strip()
        if plain.startswith("|") and len(cells := _CELLS.split(plain.strip("| "))) == 2:
            yield cells[0], cells[1]
        elif ":" in plain:
            name, _, value = plain.partition(":")
            yield name, value.strip(_AROUND)


def _members(text: str) -> Iterator[tuple[str, str]]:
    try:
        for document in documents_in(text):
            if isinstance(document, dict):
                yield from ((name, str(value)) for name, value in document.items() if not isinstance(value, dict))
    except NoJsonError:
        return


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()
