"""Microservice spans as CSV: `TraceID, SpanID, ParentID, PodName` (or `ServiceName`)`, OperationName`, times in ns."""

import csv
import re
from collections.abc import Iterator, Mapping
from typing import Final

from pydantic import JsonValue

from concord_evaluator.formats.source import Head, JsonRecord, Source
from concord_evaluator.formats.trace_stores import Fields, Row, Store

_COLUMNS: Final = ("TraceID", "SpanID", "ParentID", "OperationName", "StartTimeUnixNano", "EndTimeUnixNano")
_SERVICE_COLUMNS: Final = ("ServiceName", "PodName")
_EXPECTED: Final = f"{', '.join(_COLUMNS)} and {' or '.join(_SERVICE_COLUMNS)}"

_NO_PARENT: Final = frozenset({"root", "null", "0000000000000000"})

_POD: Final = re.compile(r"(.+)-[0-9a-z]{8,10}-[0-9a-z]{5}")
"""A pod of a Kubernetes deployment: `<deployment>-<hash of its template>-<pod's own suffix>`."""


def _recognises(head: Head) -> bool:
    try:
        return _has_columns(_fields(head.first_line))
    except ValueError:
        return False  # the line has another format, or the head cuts it


def _has_columns(columns: list[str]) -> bool:
    return set(columns).issuperset(_COLUMNS) and not set(columns).isdisjoint(_SERVICE_COLUMNS)


def _records(source: Source) -> Iterator[JsonRecord]:
    lines = source.lines()
    line, header = next(lines, (1, b""))
    with source.errors_at(line):
        columns = _fields(header.decode())
    if not _has_columns(columns):
        raise source.error(f"columns are missing: needs {_EXPECTED}", line)
    for number, (line, text) in enumerate(lines, 1):
        with source.record(line):
            fields = _fields(text.decode())
            if len(fields) != len(columns):
                raise ValueError(f"{len(fields)} fields under {len(columns)} columns")
            yield JsonRecord(number, line, dict(zip(columns, fields, strict=True)))


def _fields(line: str) -> list[str]:
    """The fields of one line: a span holds no line breaks."""
    try:
        return [field.strip() for field in next(csv.reader([line], strict=True), [])]
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _span(row: Mapping[str, JsonValue]) -> Row:
    pod = _POD.fullmatch(str(row.get("PodName", "")))
    times = {column: int(str(row[column])) for column in ("StartTimeUnixNano", "EndTimeUnixNano")}
    parent = row["ParentID"]
    return {"deployment": pod[1] if pod else None, **row, **times, "ParentID": None if parent in _NO_PARENT else parent}


FORMAT: Final = Store(
    f"spans as CSV with {_EXPECTED}",
    Fields(
        trace_id="TraceID",
        span_id="SpanID",
        parent_id="ParentID",
        name="OperationName",
        start="StartTimeUnixNano",
        end="EndTimeUnixNano",
        service="ServiceName deployment PodName",
    ),
    lambda value: [value],
    _span,
    records=_records,
    warnings=("each service counts as an agent; it is named after its pods' deployment where it names pods",),
    services_are_agents=True,
).format(_recognises)
