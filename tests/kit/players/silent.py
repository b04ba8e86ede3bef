"""The silent strategies of all families: what a seat answers that neither sends nor receives anything."""

import pkgutil
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Final

from pydantic import JsonValue

import tests.kit.players as folder
from concord.suite import Draw, SuiteTask
from concord_suites.family import TextFamily

Guess = Callable[[TextFamily, SuiteTask, str, Draw], JsonValue]
"""The answer of one seat, from the question, its own brief, the neighbour lists, and a draw of its own."""

_PREFIX: Final = "silent_"
"""Of the modules of this folder that bring the strategies of a group of families, as a dict SILENT by family."""


@cache
def _strategies() -> dict[str, tuple[Guess, ...]]:
    found: dict[str, tuple[Guess, ...]] = {}
    for module in pkgutil.iter_modules(folder.__path__):
        if module.name.startswith(_PREFIX):
            found |= import_module(f"{folder.__name__}.{module.name}").SILENT
    return found


def guesses(family: TextFamily) -> Sequence[Guess]:
    """The strategies for a family; any value of the own brief where it has none of its own."""
    return _strategies().get(family.name, (any_own_value,))


def any_own_value(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """Any value of the seat's own brief."""
    return draw.choice(_values(family, task.briefs[seat]) or [seat])


def first_public_value(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """By convention, every seat names the first value of the question, else the first seat."""
    del draw, seat
    return (_values(family, task.question) or [min(task.seats)])[0]


def first_own_value(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """By convention, every seat names the first value of its own brief by size or alphabet."""
    del draw
    return min(_values(family, task.briefs[seat]), default=seat)


CONVENTIONS: Final[tuple[Guess, ...]] = (first_public_value, first_own_value)


def _values(family: TextFamily, text: str) -> list[str]:
    return sorted({value for record in family.read(text) for value in record.fields.values()})
