"""The scorer `json`: finds the JSON in an answer, and compares it with a schema and with wanted values."""

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import isfinite
from typing import Final

from jsonpointer import EndOfList, JsonPointer, JsonPointerException
from pydantic import JsonValue

from concord.assessment.scorers import JsonScorer
from concord.json_text import NoJsonError, json_in
from concord_evaluator.scorers.graded import Graded, graded
from concord_evaluator.scorers.text_scorers import exact_fraction

_MISSING: Final = object()


def grade_json(choice: JsonScorer, _: Sequence[str], answer: str) -> Graded:
    """0 without JSON that fits the schema; otherwise the share of the wanted values that are right (1 without any)."""
    try:
        document = json_in(answer)
    except NoJsonError as error:
        return graded(0, str(error))
    if choice.schema_ is not None:
        from concord_evaluator.scorers.json_schema import schema_violation  # few schemas, and a slow import

        if (wrong := schema_violation(choice.schema_, document)) is not None:
            return graded(0, f"the JSON does not fit the schema: {wrong}")
    fits = "the JSON fits the schema" if choice.schema_ is not None else ""
    if not choice.values:
        return graded(1, fits)
    wrong_at = [pointer for pointer, _, _ in _wrong(choice, document)]
    n_right = len(choice.values) - len(wrong_at)
    summary = f"{n_right} of {len(choice.values)} values are right"
    if wrong_at:
        summary += f", not {wrong_at[0] or 'the whole'}"
    return graded(n_right / len(choice.values), "; ".join(filter(None, (fits, summary))))


def wrong_values(choice: JsonScorer, answer: str) -> list[tuple[JsonValue, object]]:
    """The wanted values that the JSON in an answer does not have, each with what it has there; None if it is missing.

    Empty without JSON.
    """
    try:
        return [(wanted, found) for _, wanted, found in _wrong(choice, json_in(answer))]
    except NoJsonError:
        return []


def _wrong(choice: JsonScorer, document: JsonValue) -> Iterator[tuple[str, JsonValue, object]]:
    """The pointers with a missing or wrong value. Each has the wanted value and the found one, None if missing."""
    for pointer, wanted in choice.values.items():
        found = _at(document, pointer)
        if found is _MISSING or not _alike(found, wanted, exact_fraction(choice.tolerance)):
            yield pointer, wanted, None if found is _MISSING else found


def _at(document: JsonValue, pointer: str) -> object:
    """The value at a pointer, or `_MISSING`. A string is one value, not a list of characters."""
    path = JsonPointer(pointer)
    there: object = document
    try:
        for part in path.parts:
            there = path.walk(there, part) if isinstance(there, dict | list) else _MISSING
    except JsonPointerException:
        return _MISSING
    return _MISSING if isinstance(there, EndOfList) else there


def _alike(there: object, wanted: JsonValue, tolerance: Fraction) -> bool:
    """Whether two values have the same type and are equal.

    Strings are compared without case and surrounding white space, numbers within the tolerance, lists in order, objects
    by their keys. True is not a number, and a number is not a string.
    """
    match there, wanted:
        case (bool(), _) | (_, bool()) | (None, _) | (_, None):
            return there is wanted
        case int() | float(), int() | float():
            return (
                all(map(isfinite, (there, wanted))) and abs(exact_fraction(there) - exact_fraction(wanted)) <= tolerance
            )
        case str(), str():
            return there.strip().casefold() == wanted.strip().casefold()
        case list(), list():
            return len(there) == len(wanted) and all(
                _alike(one, other, tolerance) for one, other in zip(there, wanted, strict=True)
            )
        case dict(), dict():
            return there.keys() == wanted.keys() and all(_alike(there[key], wanted[key], tolerance) for key in wanted)
    return False
