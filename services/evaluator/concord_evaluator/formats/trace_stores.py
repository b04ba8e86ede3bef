"""The normal form of a recorded span: a store is a table of field names, and one loop turns its rows into spans."""

import json
from base64 import b64decode
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import blake2b
from typing import Final

from pydantic import JsonValue, TypeAdapter, ValidationError

from concord.trace.otlp import AttributeValue, Span, as_attribute, destination
from concord.trace.otlp.content import Content, Event, is_content, with_content
from concord.trace.otlp.content.names import KIND
from concord.trace.otlp.genai import ATTRIBUTES, DESTINATION, METADATA
from concord.trace.report import Channel
from concord_evaluator.formats.format import TraceFormat
from concord_evaluator.formats.source import Head, JsonRecord, Source
from concord_evaluator.formats.span_recordings import ReadSpan
from concord_evaluator.formats.spans import traces_of
from concord_evaluator.formats.trace import Trace

TRACE_ID_BYTES: Final = 16
SPAN_ID_BYTES: Final = 8

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MOMENT: Final = TypeAdapter(datetime)
_FAILED: Final = frozenset({"ERROR", "STATUS_CODE_ERROR", "TRUE"})

Row = Mapping[str, JsonValue]
"""What a store writes of one span."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The names that a store gives to the facts of a span.

    Each is one name, or several with spaces between, of which the first that has a value counts; `a.b` is `b` in `a`,
    or a key with a dot. `attributes`: objects of attributes that conventions name, which the store kept as they were.
    `own`: by the attribute that it stands for, a field of the store's own; it counts where `attributes` do not tell.
    `failed`: true, or a status that says so. `needed`: facts without which a row is no span. `scope`: the default one.
    `unit`: nanoseconds of a time that is a number.
    """

    trace_id: str = "trace_id"
    span_id: str = "span_id"
    parent_id: str = "parent_id"
    name: str = "name"
    start: str = "start_time"
    end: str = "end_time"
    client: str = ""
    failed: str = "failed"
    message: str = "message"
    scope_name: str = "scope"
    service: str = "service"
    version: str = "version"
    attributes: str = "attributes"
    events: str = "events"
    own: Mapping[str, str] = field(default_factory=dict)
    needed: tuple[str, ...] = ("trace_id", "span_id")
    scope: str = ""
    unit: int = 1

    def span(self, row: Row) -> Span:
        """The span in a row. Raises ValueError with every fault, each with the field that has it."""
        faults: list[str] = []

        def read(fact: str) -> JsonValue:
            return _first(row, getattr(self, fact))

        def text(fact: str) -> str:
            found = read(fact)
            if found is None and fact in self.needed:
                faults.append(f"{getattr(self, fact).split()[0]}: Field required")
            elif found is not None and not isinstance(found, str):
                faults.append(f"{getattr(self, fact).split()[0]}: Input should be a valid string")
            return found if isinstance(found, str) else ""

        def moment(fact: str) -> int:
            found = read(fact)
            if found is None and fact in self.needed:
                faults.append(f"{getattr(self, fact).split()[0]}: Field required")
            try:
                return nanoseconds(found, self.unit)
            except ValueError:
                faults.append(f"{getattr(self, fact).split()[0]}: Input should be a valid datetime or number")
                return 0

        events = _events(read("events"))
        attributes = self._attributes(row, next((fields for name, fields in events if name == "exception"), {}))
        client = text("client").rpartition(".")[2].lower() == "client"
        failures = [_at(row, path) for path in self.failed.split()]
        kept, content = known_attributes(attributes, events)
        span = Span(
            trace_id=hex_id(text("trace_id"), TRACE_ID_BYTES),
            span_id=hex_id(text("span_id"), SPAN_ID_BYTES),
            parent_id=hex_id(text("parent_id"), SPAN_ID_BYTES),
            name=text("name"),
            scope=text("scope_name") or self.scope,
            service=text("service"),
            version=text("version"),
            start_ns=moment("start"),
            end_ns=moment("end"),
            client=client,
            failed=any(found is True or (isinstance(found, str) and found.upper() in _FAILED) for found in failures),
            message=text("message"),
            attributes=kept,
            address=_address(attributes) if client else "",
            content=content,
        )
        faults += [
            f"{paths}: Field required"
            for name, paths in self.own.items()
            if name in self.needed and not _first(row, paths)
        ]
        if faults:
            raise ValueError("; ".join(faults))
        return span

    def _attributes(self, row: Row, thrown: Row) -> dict[str, JsonValue]:
        """All attributes. A store's own kind of a span says nothing that the kept attributes of a convention do not."""
        kept: dict[str, JsonValue] = {}
        for path in self.attributes.split():
            found = parsed(_at(row, path))
            if found is None:
                found = {
                    key.removeprefix(f"{path}."): value for key, value in row.items() if key.startswith(f"{path}.")
                }
            if isinstance(found, dict):
                kept |= _flattened({name: value for name, value in found.items() if value is not None})
        told = not kept.keys().isdisjoint(KIND)
        own = {name: _first(row, paths) for name, paths in self.own.items() if not (told and name in KIND)}
        return {**thrown, **{name: value for name, value in own.items() if value is not None}, **kept}


@dataclass(frozen=True, slots=True)
class Store:
    """A trace store. `expected`: a description of its form, for messages.

    `rows_in`: the rows in a JSON value of its export; raises ValueError for a value of another form. `renamed`: what a
    table cannot say of a row. `records`: the values of its export. `warnings`, `services_are_agents`: see `traces_of`.
    """

    expected: str
    fields: Fields
    rows_in: Callable[[JsonValue], Sequence[JsonValue]]
    renamed: Callable[[dict[str, JsonValue]], Row] = lambda row: row
    records: Callable[[Source], Iterator[JsonRecord]] = Source.json_records
    warnings: tuple[str, ...] = ()
    services_are_agents: bool = False

    def format(self, recognises: Callable[[Head], bool]) -> TraceFormat:
        """The trace format of this store."""
        return TraceFormat(recognises, self._traces)

    def _traces(self, source: Source) -> Iterator[Trace]:
        spans = self._spans(source)
        return traces_of(spans, source, Channel.OTLP, self.warnings, services_are_agents=self.services_are_agents)

    def _spans(self, source: Source) -> Iterator[ReadSpan]:
        for record in self.records(source):
            found: Sequence[JsonValue] = ()
            with source.record(record.line), self._expecting(""):
                found = self.rows_in(record.value)
            for number, written in enumerate(found, 1):
                where = f"span {number}: " if len(found) > 1 else ""
                with source.record(record.line), self._expecting(where):
                    if not isinstance(written, dict):
                        raise ValueError("not an object")
                    yield ReadSpan.of(self.fields.span(self.renamed(written)), record.line)

    @contextmanager
    def _expecting(self, where: str) -> Iterator[None]:
        """Adds to an error where it is, and what was expected."""
        try:
            yield
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
    return blake2b(text.encode(errors="replace"), digest_size=size).hexdigest()


def nanoseconds(moment: JsonValue, unit: int = 1) -> int:
    """Nanoseconds since 1970; 0 if unknown. A time without a zone is UTC; a number counts `unit` nanoseconds.

    Raises ValueError.
    """
    if moment is None:
        return 0
    if isinstance(moment, int | float) and not isinstance(moment, bool):
        try:
            return round(moment * unit)
        except OverflowError as error:
            raise ValueError("not a time") from error
    try:
        known = _MOMENT.validate_python(moment)
    except ValidationError as error:
        raise ValueError("not a time") from error
    known = known if known.tzinfo else known.replace(tzinfo=UTC)
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


def parsed(text: JsonValue) -> JsonValue:
    """The JSON value in a text; the text itself if it is not JSON."""
    if isinstance(text, str):
        with suppress(ValueError, RecursionError):
            value: JsonValue = json.loads(text)
            return value
    return text


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


def _at(value: JsonValue | Row, path: str) -> JsonValue:
    """The value at a path, of which each part is a key, as are several with the dots between; None if absent."""
    if not isinstance(value, Mapping):
        return None
    if path in value:
        return value[path]
    key, dot, rest = path.partition(".")
    inner = value.get(key) if dot else None
    return _at(parsed(inner) if isinstance(inner, str) else inner, rest)


def _first(row: Row, paths: str) -> JsonValue:
    """The first value at these paths that is not empty."""
    return next((found for path in paths.split() if (found := _at(row, path)) is not None and found != ""), None)


def _events(value: JsonValue) -> list[Event]:
    """The events of a span: a name, under whichever key, and attributes."""
    found = parsed(value)
    return [
        (str(each.get("name") or each.get("event_name") or each.get("event") or ""), fields)
        for each in (found if isinstance(found, list) else ())
        if isinstance(each, dict) and isinstance(fields := each.get("attributes", {}), dict)
    ]


def _address(attributes: Row) -> str:
    flat = _flattened(attributes)
    return destination({name: as_attribute(value) for name, value in flat.items() if name in DESTINATION})
