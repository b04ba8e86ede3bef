"""Answers to a user's own tasks: right ones, in other words, negated, hedged, and those of who knows nothing. Pure."""

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from pydantic import JsonValue

from concord.assessment.scorers import JsonScorer
from concord.assessment.task_spec import TaskSpec

CANDIDATES: Final = 10
"""Answers in a list of all that might be right."""

NOTHING: Final = ("", "I do not know.", "{}")

CLAIMS: Final = (
    "The task is done. All checks passed.",
    '{"status": "success", "success": true, "passed": true, "score": 1.0, "answer": "done"}',
    "Task completed successfully. Final score: 100 of 100.",
)
"""What a participant says of its work that has not done it."""

HOSTILE_LENGTH: Final = 20_000

FORMS: Final = ("{}", "The answer is {}.", "ANSWER: {}", '{{"answer": "{}"}}')
"""How an answer may be written. The first that earns all points is the task's form."""

_OTHER: Final = {"yes": "no", "no": "yes", "true": "false", "false": "true"}
_DIGIT: Final = re.compile(r"\d+")


def right_texts(task: TaskSpec) -> list[str]:
    """Right answers of a task, each of which earns all points or has the wrong form; none where none is known."""
    if isinstance(task.scorer, JsonScorer):
        return [json.dumps(_document(task.scorer.values))] if task.scorer.values else []
    targets = task.target or []
    return [", ".join(targets)] if getattr(task.scorer, "match_all", False) else targets


def in_form(form: str, text: str) -> str:
    """An answer in a form."""
    return form.format(text)


def decoys(target: str, count: int = CANDIDATES - 1) -> list[str]:
    """Other answers of the target's form: the other one of two, another last number, else other letters."""
    if other := _OTHER.get(target.casefold()):
        return [other.capitalize() if target[0].isupper() else other]
    if number := list(_DIGIT.finditer(target))[-1:]:
        [last] = number
        width, value = len(last[0]), int(last[0])
        steps = range(1, min(count + 1, 10**width))
        others = [str((value + step) % 10**width).zfill(width) for step in steps]
        return [target[: last.start()] + each + target[last.end() :] for each in others]
    return ["".join(_shifted(char, step) for char in target) for step in range(1, count + 1)]


def wrong_json(text: str) -> str:
    """A document of the form of that in a text, none of whose values is right."""
    return json.dumps(_wrong(json.loads(text)))


def lists_of_all(form: str, target: str) -> list[str]:
    """Lists of all candidates, the right one at each place in turn: who lists them does not know which it is."""
    others = decoys(target)
    places = range(len(others) + 1)
    return [in_form(form, ", ".join([*others[:place], target, *others[place:]])) for place in places]


def negated(form: str, target: str) -> list[str]:
    """The opposite of the right answer."""
    return [in_form(form, f"not {target}"), f"It is not {target}.", f"The answer is not {target}"]


def contradicted(form: str, target: str) -> list[str]:
    """A right answer that is then taken back."""
    other = decoys(target, 1)[0]
    retracted = f"{in_form(form, target)} No, that is wrong. {in_form(form, other)}"
    return [retracted, f"{in_form(form, target)} Or: {in_form(form, other)}"]


def options(target: str) -> int | None:
    """The answers between which a guess chooses; None where these are many."""
    word = target.strip().strip(".()").casefold()
    if len(word) == 1:
        return 10 if word.isdigit() else 4
    return 2 if word in _OTHER else None


def options_in(value: JsonValue) -> int | None:
    """The values between which a guess of a JSON value chooses; None where these are many."""
    if isinstance(value, bool):
        return 2
    return options(value) if isinstance(value, str) else None


def hostile_texts(task: TaskSpec) -> list[str]:
    """Answers that cost a weak grader all its time, or that it cannot read."""
    pattern = str(getattr(task.scorer, "pattern", ""))
    schema = json.dumps(getattr(task.scorer, "schema_", None) or "")
    letters = sorted({*"a0 x", *re.sub(r"\\.|[^\w ]", "", pattern + schema)})
    texts = [f"{letter * HOSTILE_LENGTH}!" for letter in letters[:20]]
    return [*texts, "[" * HOSTILE_LENGTH, "9" * HOSTILE_LENGTH, "\ud800", '{"a":' * 5_000]


def _document(values: dict[str, JsonValue]) -> JsonValue:
    """A JSON document that has these values at these JSON Pointers."""
    if list(values) == [""]:
        return values[""]
    document: dict[str, Any] = {}
    for pointer, value in values.items():
        *above, last = [each.replace("~1", "/").replace("~0", "~") for each in pointer.split("/")[1:]] or [""]
        there = document
        for name in above:
            there = there.setdefault(name, {})
        there[last] = value
    return _lists(document)


def _lists(value: Any) -> JsonValue:  # noqa: ANN401 - JSON
    """Objects whose keys are 0, 1, … as lists."""
    if not isinstance(value, dict):
        whole: JsonValue = value
        return whole
    read = {name: _lists(each) for name, each in value.items()}
    if read and sorted(read, key=lambda name: (len(name), name)) == [str(place) for place in range(len(read))]:
        return [read[str(place)] for place in range(len(read))]
    return read


def _wrong(value: JsonValue) -> JsonValue:
    match value:
        case bool() | None:
            return not value
        case int() | float():
            return value + 1_000
        case str():
            return decoys(value, 1)[0] if value else "x"
        case list():
            return [_wrong(each) for each in value] or ["x"]
    return {name: _wrong(each) for name, each in value.items()}


def _shifted(char: str, step: int) -> str:
    for first in "aA":
        if char.isascii() and char.isalpha() and (char.islower() == first.islower()):
            return chr((ord(char) - ord(first) + step) % 26 + ord(first))
    return char


def spelled_otherwise(form: str, target: str) -> Sequence[str]:
    """The same answer, written as others would."""
    texts = [target.upper(), target.lower(), f" {target} "]
    if target.isdigit() and len(target) > 3:
        texts.append(f"{int(target):,}")
    return [in_form(form, text) for text in texts]


def with_more_words(form: str, target: str) -> str:
    """The same answer, with words around it that change nothing."""
    return f"We checked each other's work, and we agree.\n\n{in_form(form, target)}"
