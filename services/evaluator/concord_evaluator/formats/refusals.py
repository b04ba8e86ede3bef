"""What a file is that is no trace, and what to export instead."""

from collections.abc import Callable
from typing import Final

from concord_evaluator.formats.source import Head

_SPANS: Final = "export the run's spans as OTLP"


def _starts(*starts: bytes) -> Callable[[Head], bool]:
    return lambda head: head.data.lstrip()[:64].lower().startswith(starts)


def _has(*keys: str) -> Callable[[Head], bool]:
    return lambda head: head.json_keys >= set(keys)


def _is_table(head: Head) -> bool:
    return not head.first and head.filename.endswith((".csv", ".tsv")) and "," in head.first_line


_KNOWN: Final[tuple[tuple[str, str, Callable[[Head], bool]], ...]] = (
    ("a PDF document", _SPANS, _starts(b"%pdf")),
    ("an image", _SPANS, _starts(b"\x89png", b"\xff\xd8\xff", b"gif8")),
    ("a Parquet file", "write its rows as JSON lines", _starts(b"par1")),
    ("an SQLite database", "export its spans as JSON", _starts(b"sqlite format 3")),
    ("a zip archive", "unpack it first", _starts(b"pk\x03\x04")),
    ("a web page", "download the trace as JSON", _starts(b"<!doctype html", b"<html")),
    ("metrics of OTLP, which name no agents", "export spans (`resourceSpans`)", _has("resourceMetrics")),
    ("spans of Zipkin", "export OTLP, or Jaeger's JSON", _has("traceId", "id", "localEndpoint")),
    ("a profile of Chrome", _SPANS, _has("traceEvents")),
    ("an answer of a model", _SPANS, _has("object", "choices")),
    ("a checkpoint of LangGraph", _SPANS, _has("channel_values")),
    ("a conversation with one model, which names no agents", _SPANS, _has("messages")),
    ("messages of one model, which name no agents", f"{_SPANS}, or rows with `who` and `to`", _has("role", "content")),
    ("a table without agents", "name its columns `who`, `to`, `text`, `tool`, `error`", _is_table),
)


def refusal_of(head: Head) -> str:
    """Why a file is no trace, with what to export instead; "" if it is nothing known."""
    found = ((what, instead) for what, instead, is_it in _KNOWN if is_it(head))
    return next(
        (f"this is {what}, not a trace: {instead}; see docs/evaluating-traces.md" for what, instead in found), ""
    )
