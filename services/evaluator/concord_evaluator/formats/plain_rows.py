"""Plain rows in JSON or CSV: who, to whom, text, tool, error. Rows of one `trace` are one run, else all rows are."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from io import StringIO
from typing import Final

from pydantic import JsonValue

from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.otlp.content.messages import text_of, written
from concord.trace.step import MAX_VALUE_LENGTH, CallType, InteractionStep, StepAction, ToolInvocation
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.trace import Origin, Trace, TraceBuilder, all_built, file_trace_id
from concord_evaluator.formats.trace_stores import nanoseconds

COLUMNS: Final[Mapping[str, tuple[str, ...]]] = {
    "who": ("who", "from", "sender", "speaker", "agent"),
    "to": ("to", "to whom", "to_whom", "receiver", "recipient"),
    "text": ("text", "message", "content"),
    "tool": ("tool", "tool_name"),
    "error": ("error",),
    "time": ("time", "timestamp"),
    "trace": ("trace", "trace_id", "run", "run_id"),
}
"""The names that a column may have."""

_USER: Final = "user"
_EXPECTED: Final = "rows with `who`, and `to`, `text`, `tool`, `error`, `time` or `trace`"
_WARNING: Final = "the rows do not tell questions from answers: every message counts as a call of its receiver"


def _columns(keys: Iterable[str]) -> dict[str, str]:
    """By column, its name in the file."""
    known = {key.strip().casefold(): key for key in keys}
    return {column: known[name] for column, names in COLUMNS.items() for name in reversed(names) if name in known}


def _is_rows(keys: Iterable[str]) -> bool:
    given = list(keys)
    found = _columns(given)
    return "who" in found and not {"to", "tool"}.isdisjoint(found) and len(given) <= 2 * len(found)


def _recognises(head: Head) -> bool:
    return _is_rows(head.json_keys) if head.first else _is_rows(_fields(head.first_line))


def _fields(line: str) -> list[str]:
    return next(csv.reader([line]), [])


def _rows(source: Source) -> Iterator[tuple[int, Mapping[str, JsonValue]]]:
    if source.head.first:
        for line, value in source.json_values():
            with source.record(line):
                if not isinstance(value, dict):
                    raise ValueError(f"not an object; expected {_EXPECTED}")
                yield line, value
        return
    with source.errors_at(1):
        text = StringIO(source.data().decode("utf-8-sig"), newline="")
        reader = csv.DictReader(text, strict=True)
        try:
            for row in reader:
                yield reader.line_num, {key: value for key, value in row.items() if key is not None and value}
        except csv.Error as error:
            raise source.error(str(error), reader.line_num) from error


def _read(source: Source) -> Iterator[Trace]:
    builders: dict[str, TraceBuilder] = {}
    name = file_trace_id(source.name, 1)
    for number, (line, row) in enumerate(_rows(source), 1):
        with source.record(line):
            found = {column: row[key] for column, key in _columns(row).items() if row[key] not in (None, "")}
            if "who" not in found:
                raise ValueError(f"nobody is named; expected {_EXPECTED}")
            trace_id = str(found.get("trace", name))
            builder = builders.get(trace_id) or TraceBuilder(trace_id, Origin(source.name, line))
            _take(builder, f"{number:06}", found)
            builders[trace_id] = builder
    return all_built(builders.values(), source)


def _take(builder: TraceBuilder, step_id: str, row: Mapping[str, JsonValue]) -> None:
    who, text = str(row["who"]), _text(row.get("text"))
    error = _text(row.get("error")) or None
    moment = nanoseconds(_number(row.get("time")), 1_000_000_000)
    sent_at = datetime.fromtimestamp(moment / 1e9, UTC) if moment else None
    to = str(row.get("to", ""))
    if who == _USER:
        builder.task = builder.task or text
    elif tool := row.get("tool"):
        builder.declare(who)
        use = StepAction(tool_invocation=ToolInvocation(tool_name=str(tool)))
        builder.add(
            _step(builder, step_id, CallType.TOOL, text, sent_at, error).model_copy(update={"step_action": use}), who
        )
    elif to and to != _USER and to != who:
        builder.warn(_WARNING)
        builder.add_message(step_id, who, to, text, sent_at=sent_at)
        if error:
            builder.add_work(f"{step_id}-error", who, error=error)
    else:
        builder.declare(who)
        builder.add(_step(builder, step_id, CallType.HOST, text, sent_at, error), who)
        builder.answer = text or builder.answer


def _step(
    builder: TraceBuilder, step_id: str, kind: CallType, text: str, sent_at: datetime | None, error: str | None
) -> InteractionStep:
    return InteractionStep(
        step_id=step_id,
        trace_id=builder.trace_id,
        call_type=kind,
        additional_attributes={RESPONSE_TEXT: text[:MAX_VALUE_LENGTH]} if text else {},
        start_time=sent_at,
        error=error,
    )


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else "" if value in (None, False) else text_of(value) or written(value)


def _number(value: JsonValue) -> JsonValue:
    """A time, as a number where a CSV has one as text."""
    try:
        return float(value) if isinstance(value, str) else value
    except ValueError:
        return value


FORMAT: Final = TraceFormat(_recognises, _read)
