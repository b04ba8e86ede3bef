"""The common part of the readers of trace stores' exports. A store's span becomes a span of OpenInference."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final

from pydantic import JsonValue, ValidationError

from concord.trace.otlp import AttributeValue, Span, as_attribute
from concord.trace.otlp.content import Content, Event, is_content, with_content
from concord.trace.otlp.genai import ATTRIBUTES, METADATA
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, Source, reasons
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Store:
    """A trace store. `expected`: a description of its form, for messages.

    `spans_in`: the spans in a JSON value of its export, not yet read; raises ValueError for a value of another form.
    `read`: reads one of these spans. Raises ValueError, or pydantic's ValidationError.
    """

    expected: str
    spans_in: Callable[[JsonValue], Sequence[JsonValue]]
    read: Callable[[JsonValue], Span]

    def format(self, recognises: Callable[[Head], bool]) -> TraceFormat:
        """The trace format of this store."""
        return TraceFormat(recognises, self._traces)

    def _traces(self, source: Source) -> Iterator[Trace]:
        return traces_of(self._spans(source), source, Channel.OTLP)

    def _spans(self, source: Source) -> Iterator[ReadSpan]:
        for record in source.json_records():
            found: Sequence[JsonValue] = ()
            with source.record(record.line):
                found = self._found(record.value)
            for number, written in enumerate(found, 1):
                with source.record(record.line):
                    yield ReadSpan.of(self._span(written, f"span {number}: " if len(found) > 1 else ""), record.line)

    def _found(self, value: JsonValue) -> Sequence[JsonValue]:
        try:
            return self.spans_in(value)
        except ValueError as error:
            raise ValueError(f"{error}; expected {self.expected}") from error

    def _span(self, written: JsonValue, where: str) -> Span:
        try:
            return self.read(written)
        except ValidationError as error:
            raise ValueError(f"{where}{reasons(error)}; expected {self.expected}") from error
        except ValueError as error:
            raise ValueError(f"{where}{error}; expected {self.expected}") from error


def listed(value: JsonValue, key: str) -> list[JsonValue] | None:
    """The list under a key of an object; None without a list."""
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, list) else None


def hex_id(written: str | None, size: int) -> str:
    """An id of `size` bytes in lower-case hex, "" for none. Any other id becomes its digest of that size."""
    text = (written or "").removeprefix("0x").lower()
    if not text or (len(text) == 2 * size and all(digit in "0123456789abcdef" for digit in text)):
        return text
    if len(written or "") == (size + 2) // 3 * 4:
        with suppress(ValueError):
            return b64decode(written or "", validate=True).hex()
    return blake2b(text.encode(), digest_size=size).hexdigest()


def nanoseconds(moment: datetime | None) -> int:
    """Nanoseconds since 1970; 0 if unknown. A time without a zone is UTC."""
    if moment is None:
        return 0
    known = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (known - _EPOCH) // timedelta(microseconds=1) * 1000


def known_attributes(
    written: Mapping[str, JsonValue], events: Sequence[Event] = ()
) -> tuple[dict[str, AttributeValue], Content]:
    """The attributes that conventions read, structured values as JSON, and what was said, also in `events`.

    Stores split an object into attributes with dots in their names, or join such attributes to an object.
    """
    flat = _flattened(written)
    whole = {key: value for key, value in flat.items() if key in ATTRIBUTES}
    for key in METADATA:
        parts = {name.removeprefix(f"{key}."): value for name, value in flat.items() if name.startswith(f"{key}.")}
        if parts and key not in whole:
            whole[key] = parts
    known = {key: as_attribute(value) for key, value in whole.items()}
    return with_content(known, {key: value for key, value in flat.items() if is_content(key)}, events)


def _flattened(written: Mapping[str, JsonValue], prefix: str = "") -> dict[str, JsonValue]:
    """`{"a": {"b": 1}}` as `{"a.b": 1}`. An object that is an attribute itself stays one."""
    flat: dict[str, JsonValue] = {}
    for key, value in written.items():
        name = f"{prefix}{key}"
        if isinstance(value, dict) and name not in ATTRIBUTES and not is_content(name):
            flat.update(_flattened(value, f"{name}."))
        else:
            flat[name] = value
    return flat


def parsed(text: JsonValue) -> JsonValue:
    """The JSON value in a text; the text itself if it is not JSON."""
    if isinstance(text, str):
        with suppress(ValueError):
            value: JsonValue = json.loads(text)
            return value
    return text
