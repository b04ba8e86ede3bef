"""The scorer `json`: whether the JSON in the answer fits a schema, and which of the wanted values it has."""

from collections.abc import Iterator
from fractions import Fraction
from math import isfinite
from typing import Final

from jsonpointer import EndOfList, JsonPointer, JsonPointerException
from pydantic import JsonValue

from concord.assessment.scorers import JsonScorer
from concord_evaluator.scorers.figures import exactly
from concord_evaluator.scorers.graded import Graded, graded
from concord_evaluator.scorers.json_answer import NoJsonError, json_in
from concord_evaluator.scorers.json_schema import misfit

_MISSING: Final = object()


def grade_json(choice: JsonScorer, answer: str) -> Graded:
    """0 without JSON that fits the schema; else the share of the wanted values that are there, 1 if none are wanted."""
    try:
        document = json_in(answer)
    except NoJsonError as error:
        return graded(0, str(error))
    if choice.schema_ is not None and (wrong := misfit(choice.schema_, document)) is not None:
        return graded(0, f"the JSON does not fit the schema: {wrong}")
    fits = "the JSON fits the schema" if choice.schema_ is not None else ""
    if not choice.values:
        return graded(1, fits)
    wrong_at = list(_wrong(choice, document))
    n_right = len(choice.values) - len(wrong_at)
    told = f"{n_right} of {len(choice.values)} values are right"
    if wrong_at:
        told += f", not {wrong_at[0] or 'the whole'}"
    return graded(n_right / len(choice.values), "; ".join(filter(None, (fits, told))))


def _wrong(choice: JsonScorer, document: JsonValue) -> Iterator[str]:
    """The pointers at which there is something else than what is wanted."""
    for pointer, wanted in choice.values.items():
        there = _at(document, pointer)
        if there is _MISSING or not _alike(there, wanted, exactly(choice.tolerance)):
            yield pointer


def _at(document: JsonValue, pointer: str) -> object:
    """What a pointer leads to, or `_MISSING`. A string is one value, not a list of letters."""
    path = JsonPointer(pointer)
    there: object = document
    try:
        for part in path.parts:
            there = path.walk(there, part) if isinstance(there, dict | list) else _MISSING
    except JsonPointerException:
        return _MISSING
    return _MISSING if isinstance(there, EndOfList) else there


def _alike(there: object, wanted: JsonValue, tolerance: Fraction) -> bool:
    """Whether two values are of one kind and equal: strings but for case and the white space around them, numbers
    within the tolerance, lists in order, objects with the same keys. True is no number, and a number no string.
    """
    match there, wanted:
        case (bool(), _) | (_, bool()) | (None, _) | (_, None):
            return there is wanted
        case int() | float(), int() | float():
            return all(map(isfinite, (there, wanted))) and abs(exactly(there) - exactly(wanted)) <= tolerance
        case str(), str():
            return there.strip().casefold() == wanted.strip().casefold()
        case list(), list():
            return len(there) == len(wanted) and all(
                _alike(one, other, tolerance) for one, other in zip(there, wanted, strict=True)
            )
        case dict(), dict():
            return there.keys() == wanted.keys() and all(_alike(there[key], wanted[key], tolerance) for key in wanted)
    return False
