"""Logs of inspect_ai: `.eval`, a zip with a file for each sample, and `.json`. Each sample is a trace.

Source of the form: github.com/UKGovernmentBEIS/inspect_ai, `inspect_ai.log.EvalLog` and `inspect_ai.event`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from io import BytesIO
from typing import Final
from zipfile import BadZipFile, ZipFile

from pydantic import JsonValue
from pydantic_core import from_json

from concord.trace.otlp.content.messages import text_of
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace, file_trace_id
from concord_evaluator.formats.trace_stores import Fields, Row, listed, nanoseconds, parsed
from concord_evaluator.formats.transcripts import Turn, Use, rows_of, runs_of

MAX_SAMPLE: Final = 1 << 28
"""Bytes of a sample after decompression."""

_ZIP: Final = b"PK\x03\x04"
_OUTCOMES: Final[Mapping[JsonValue, float]] = {"C": 1.0, "I": 0.0, "P": 0.5, "N": 0.0}
"""inspect's letters for correct, incorrect, partial and no answer."""

_SPAN: Final = Fields(
    own={
        "gen_ai.operation.name": "operation",
        "gen_ai.agent.name": "agent",
        "gen_ai.tool.name": "function",
        "gen_ai.tool.call.arguments": "arguments",
        "gen_ai.tool.call.result": "told",
        "gen_ai.request.model": "model",
        "gen_ai.usage.input_tokens": "output.usage.input_tokens",
        "gen_ai.usage.output_tokens": "output.usage.output_tokens",
        "gen_ai.input.messages": "input",
        "output.value": "output.completion",
    },
)
_TRANSCRIPT: Final = Fields()


def _is_zip(head: Head) -> bool:
    return head.data.startswith(_ZIP)


def _recognises(head: Head) -> bool:
    if _is_zip(head):
        return head.filename.endswith(".eval") or b"_journal/" in head.data
    return head.json_keys >= {"version", "status", "eval"}


def _read(source: Source) -> Iterator[Trace]:
    for number, sample in enumerate(_samples(source), 1):
        with source.record(None):
            if not isinstance(sample, dict) or listed(sample, "messages") is None:
                raise ValueError("not a sample; expected an object with `id` and `messages`")
            stated = "-".join(str(sample[key]) for key in ("id", "epoch") if sample.get(key) is not None)
            name = str(sample.get("uuid") or stated or file_trace_id(source.name, number))
            rows = list(_of_events(name, sample))
            agents = any(row.get("agent") for row in rows)
            table = _SPAN if agents else _TRANSCRIPT
            written: Iterator[Row] | list[Row] = rows if agents else rows_of(name, runs_of(_of_messages(sample)))
            spans = [ReadSpan.of(table.span(row), 1) for row in written]
            outcome = _outcome(sample.get("scores"))
            for trace in traces_of(spans, source, Channel.OTLP):
                yield trace if outcome is None else replace(trace, task_success=outcome)


def _samples(source: Source) -> Iterator[JsonValue]:
    """The samples of a log. Raises FormatError."""
    if not _is_zip(source.head):
        for _, value in source.json_values():
            yield from listed(value, "samples") or []
        return
    with source.errors_at(None):
        try:
            with ZipFile(BytesIO(source.data())) as log:
                for member in log.infolist():
                    if member.filename.startswith("samples/") and member.filename.endswith(".json"):
                        if member.file_size > MAX_SAMPLE:
                            raise ValueError(f"{member.filename} has more than {MAX_SAMPLE} bytes")
                        yield from_json(log.read(member))
        except (BadZipFile, NotImplementedError, EOFError) as error:
            raise ValueError(f"cannot be unpacked: {error}; write it with `inspect log convert --to json`") from error


def _outcome(scores: JsonValue) -> float | None:
    """The value of the first score; None if there is none in [0, 1]."""
    first = next(iter(scores.values()), None) if isinstance(scores, dict) else None
    value = first.get("value") if isinstance(first, dict) else None
    if isinstance(value, str):
        return _OUTCOMES.get(value)
    return float(value) if isinstance(value, int | float) and 0 <= value <= 1 else None


def _of_events(trace_id: str, sample: Mapping[str, JsonValue]) -> Iterator[Row]:
    """The spans, tools and models of a sample's events. A span of type `agent` is an agent, by its name."""
    events = [each for each in listed(dict(sample), "events") or () if isinstance(each, dict)]
    ends = {each.get("id"): each.get("timestamp") for each in events if each.get("event") == "span_end"}
    for number, each in enumerate(events):
        kind = each.get("event")
        row = {**each, "trace_id": trace_id, "start_time": each.get("timestamp"), "end_time": each.get("completed")}
        if kind == "span_begin":
            is_agent = each.get("type") == "agent"
            facts: Row = {
                "span_id": each.get("id"),
                "end_time": ends.get(each.get("id")),
                "operation": "invoke_agent" if is_agent else "",
                "agent": each.get("name") if is_agent else "",
            }
        elif kind in {"tool", "model"}:
            error = each.get("error")
            facts = {
                "span_id": f"{each.get('span_id')}/{number}",
                "parent_id": each.get("span_id"),
                "name": each.get("function") or each.get("model"),
                "operation": "execute_tool" if kind == "tool" else "chat",
                "told": text_of(each.get("result")),
                "failed": error is not None,
                "message": str(error.get("message", "")) if isinstance(error, dict) else str(error or ""),
            }
        else:
            continue
        yield {**row, **facts}


def _of_messages(sample: Mapping[str, JsonValue]) -> Iterator[tuple[str, Turn]]:
    """The turns of a sample without spans of agents, whose one agent is called `agent`."""
    uses: dict[str, Use] = {}
    for number, message in enumerate(listed(dict(sample), "messages") or ()):
        if not isinstance(message, dict):
            continue
        role, text = message.get("role"), text_of(message.get("content"))
        if role == "tool" and (use := uses.get(str(message.get("tool_call_id")))) is not None:
            use.result, use.failed = text, message.get("error") is not None
        if role not in {"user", "assistant"}:
            continue
        turn = Turn(str(role), text, nanoseconds(message.get("timestamp")), model=str(message.get("model") or ""))
        for call in listed(message, "tool_calls") or ():
            if isinstance(call, dict):
                use = Use(f"{number}/{call.get('id')}", str(call.get("function")), parsed(call.get("arguments")))
                uses[str(call.get("id"))] = use
                turn.uses.append(use)
        yield ("agent" if role == "assistant" else ""), turn


FORMAT: Final = TraceFormat(_recognises, _read)
