"""What a recording declares of its task: an id, the expected answer, or a judgment of the answer that somebody gave."""

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Final

from pydantic import JsonValue, ValidationError

from concord.assessment import TaskSpec
from concord.assessment.results import Grading
from concord.files import first_fault
from concord.trace.otlp import Span, genai
from concord.trace.otlp.genai import METADATA, METADATA_PREFIXES, OUTCOMES, SCORER, SCORES, TARGET, TASK_ID
from concord_evaluator.formats.trace import TraceBuilder, shortened_id

BY_TRACE: Final = "declared in the trace"

DEFAULT_SCORER: Final = "includes"
"""Where nobody says how answers are compared: the answer has the target in it, as whole words."""

_WORDS: Final = {
    **dict.fromkeys(("correct", "pass", "passed", "true", "yes", "success"), 1.0),
    **dict.fromkeys(("incorrect", "wrong", "fail", "failed", "false", "no", "failure"), 0.0),
}
"""Labels that tell the outcome."""


def expected_task(target: object, scorer: object = None) -> TaskSpec:
    """A task that says how its answer is graded. `target`: a text, or several that are accepted; `scorer`: its name, or
    an object with its options. Raises ValueError."""
    try:
        return TaskSpec.model_validate(
            {"id": "trace", "text": "-", "target": target, "scorer": scorer or DEFAULT_SCORER}
        )
    except ValidationError as error:
        raise ValueError(first_fault(error)) from error


def declare(builder: TraceBuilder, spans: Iterable[Span]) -> None:
    """Takes from spans, the outermost first, what they declare; the first span that tells a thing counts."""
    found: dict[str, Any] = {}
    scores: dict[str, JsonValue] = {}
    for number, span in enumerate(spans):
        if _MARKS.isdisjoint(span.attributes):
            continue
        for name, value in _declared(span.attributes):
            found.setdefault(name, value)
        if not number or not span.parent_id:  # others judge a step, not the answer
            scores = {**_scores(span.attributes), **scores}
    builder.task_id = shortened_id(str(found.get("task_id", "")))
    if "target" in found or "scorer" in found:
        try:
            builder.expected = expected_task(found.get("target"), found.get("scorer"))
        except ValueError as error:
            builder.warn(f"the expected answer that the trace declares cannot be used: {error}")
    builder.grading = builder.grading or judged(scores)


_NAMES: Final[Mapping[str, str]] = {
    **dict.fromkeys(TASK_ID, "task_id"),
    **dict.fromkeys(TARGET, "target"),
    **dict.fromkeys(SCORER, "scorer"),
}

_MARKS: Final = frozenset(
    (*METADATA, *SCORES, *genai.EVALUATIONS, *(prefix + name for prefix in ("", *METADATA_PREFIXES) for name in _NAMES))
)


def _declared(attributes: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """What attributes declare, also in the metadata that a framework takes along, as `config={"metadata": …}` does."""
    written = [text for key in METADATA if "concord." in (text := str(attributes.get(key, "")))]  # few spans' metadata
    noted = [entries for text in written if isinstance(entries := _read(text), dict)]
    for name, fact in _NAMES.items():
        for values, key in (
            *((attributes, prefix + name) for prefix in ("", *METADATA_PREFIXES)),
            *((entries, name) for entries in noted),
        ):
            if (value := _read(values.get(key))) not in (None, ""):
                yield fact, value


def _scores(attributes: Mapping[str, Any]) -> dict[str, JsonValue]:
    listed = _read(attributes.get(SCORES[0]))
    known = dict(listed) if isinstance(listed, dict) else {}
    for key, name in genai.EVALUATIONS.items():
        if _share(attributes.get(key)) is not None:
            known.setdefault(name, attributes[key])
    return known


def judged(scores: Mapping[str, JsonValue]) -> Grading | None:
    """The judgment whether the answer is right, of the first name that tells; None without one."""
    known = {name.lower().replace(" ", "_").replace("-", "_"): value for name, value in scores.items()}
    for name in OUTCOMES:
        if (value := _share(known.get(name))) is not None:
            return Grading(value=value, source="recorded", scorer=name, reason=BY_TRACE)
    return None


def _share(value: JsonValue) -> float | None:
    """A judgment as a share of 1; None if it is on another scale."""
    if isinstance(value, str):
        return _WORDS.get(value.strip().lower())
    return float(value) if isinstance(value, bool | int | float) and 0 <= value <= 1 else None


def _read(written: Any) -> Any:  # noqa: ANN401 - JSON
    """The list, object or quoted text in an attribute that JSON was written into; anything else as it is."""
    if isinstance(written, str) and written.startswith(("[", "{", '"')):
        with suppress(ValueError, RecursionError):
            return json.loads(written)
    return written
