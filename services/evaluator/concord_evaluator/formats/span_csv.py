"""Microservice spans as CSV: `TraceID, SpanID, ParentID, PodName` (or `ServiceName`)`, OperationName`, times in ns."""

import csv
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Final

from concord.trace.otlp import Span
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace

_COLUMNS: Final = ("TraceID", "SpanID", "ParentID", "OperationName", "StartTimeUnixNano", "EndTimeUnixNano")
_SERVICE_COLUMNS: Final = ("ServiceName", "PodName")

_NO_PARENT: Final = frozenset({"", "root", "null", "0000000000000000"})

_POD: Final = re.compile(r"(.+)-[0-9a-z]{8,10}-[0-9a-z]{5}")
"""A pod of a Kubernetes deployment: `<deployment>-<hash of its template>-<pod's own suffix>`."""

_WARNINGS: Final = ("each service counts as an agent; it is named after its pods' deployment where it names pods",)


def _recognises(head: Head) -> bool:
    try:
        return _service_column(_fields(head.first_line)) is not None
    except ValueError:
        return False  # the line has another format, or the head cuts it


def _read(source: Source) -> Iterator[Trace]:
    return traces_of(_spans(source), source, Channel.OTLP, _WARNINGS, services_are_agents=True)


def _spans(source: Source) -> Iterator[ReadSpan]:
    lines = source.lines()
    number, header = next(lines, (1, b""))
    with source.errors_at(number):
        columns = _fields(header.decode())
    service = _service_column(columns)
    if service is None:
        raise source.error(
            f"columns are missing: needs {', '.join(_COLUMNS)} and {' or '.join(_SERVICE_COLUMNS)}", number
        )
    for number, line in lines:
        with source.record(number):
            fields = _fields(line.decode())
            if len(fields) != len(columns):
                raise ValueError(f"{len(fields)} fields under {len(columns)} columns")
            yield ReadSpan.of(_span(dict(zip(columns, fields, strict=True)), service), number)


def _fields(line: str) -> list[str]:
    """The fields of one line: a span holds no line breaks."""
    try:
        return [field.strip() for field in next(csv.reader([line], strict=True), [])]
    except csv.Error as error:
        raise ValueError(str(error)) from error


def _service_column(columns: Collection[str]) -> str | None:
    """The column with the service of a span. None if that or another column is missing."""
    known = next((column for column in _SERVICE_COLUMNS if column in columns), None)
    return known if set(columns).issuperset(_COLUMNS) else None


def _span(row: Mapping[str, str], service: str) -> Span:
    pod = _POD.fullmatch(row[service]) if service == "PodName" else None
    return Span(
        trace_id=row["TraceID"].lower(),
        span_id=row["SpanID"].lower(),
        parent_id="" if row["ParentID"] in _NO_PARENT else row["ParentID"].lower(),
        name=row["OperationName"],
        scope="",
        service=pod[1] if pod else row[service],
        start_ns=int(row["StartTimeUnixNano"]),
        end_ns=int(row["EndTimeUnixNano"]),
        client=False,
        failed=False,
        message="",
        attributes={},
    )


FORMAT = TraceFormat(_recognises, _read)
