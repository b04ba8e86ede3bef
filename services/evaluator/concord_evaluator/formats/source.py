"""Sources: a file or stream of bytes that is read once, with errors that name the line."""

import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from itertools import chain, count, islice
from pathlib import PurePath
from types import TracebackType
from typing import Any, BinaryIO, Final, NamedTuple, NoReturn, TypeVar

from pydantic import JsonValue, ValidationError
from pydantic_core import ErrorDetails, from_json

from concord_evaluator.formats.inflating import MAGIC, inflated

HEAD_BYTES: Final = 1 << 20
"""The bytes of a file that its format is recognised by: enough for the shape of its first record."""

_LAST: Final = 1_000
"""Characters at the end of a head in which a fault may come from its being cut there."""

_PIECE_BYTES: Final = 1 << 24
"""The limit of bytes that are read at once."""

Parsed = TypeVar("Parsed")
_Parse = Callable[[bytes], Any]
"""Reads a JSON text, which may be one record or, as a list, several. Raises ValueError."""

_BOM: Final = b"\xef\xbb\xbf"
_MAX_REASONS: Final = 3
_MAX_MESSAGE: Final = 300
_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"\s*")
_JSON_PLACE: Final = re.compile(r" at line (\d+) column (\d+)$")


class FormatError(Exception):
    """A file does not have the expected form. `line` counts from 1; None if the error has no line."""

    def __init__(self, file: str, line: int | None, reason: str) -> None:
        self.file, self.line, self.reason = file, line, reason
        where = file if line is None else f"{file}:{line}"
        super().__init__(f"{where}: {reason}")


class UnrecognisedError(FormatError):
    """A file has the expected form, but nothing in it can be recognised as an agent."""


@contextmanager
def errors_at(file: str, line: int | None) -> Iterator[None]:
    """Converts errors of validation and conversion to a FormatError about `line` of `file`."""
    try:
        yield
    except (ValueError, ArithmeticError) as error:
        raise _fault_at(file, line, error) from error


def _fault_at(file: str, line: int | None, error: Exception) -> FormatError:
    reason = reasons(error) if isinstance(error, ValidationError) else _shortened(str(error))
    return FormatError(file, line, reason)


def _refuse(fault: FormatError) -> NoReturn:
    raise fault


class JsonRecord(NamedTuple):
    """A JSON value, its first line, and its number in the file from 1. Unreadable values count as well."""

    number: int
    line: int
    value: JsonValue


class BrokenJson(NamedTuple):
    """The line of a fault in JSON, from 1, and what it is."""

    line: int
    reason: str


@dataclass(frozen=True)
class Head:
    """The data that a format is recognised by: the name of the file and its first MiB, decompressed."""

    filename: str
    data: bytes

    @cached_property
    def first_line(self) -> str:
        """The first line, as far as it is in the head."""
        return _without_bom(self.data).split(b"\n", 1)[0].decode("utf-8", "ignore").strip()

    @cached_property
    def broken_json(self) -> BrokenJson | None:
        """Where and why a file that begins as JSON is none; None if it is, or does not begin so."""
        text = _without_bom(self.data).decode("utf-8", "replace")
        if not text.lstrip().startswith(("{", "[")) or _is_json(self.first_line.encode()):
            return None
        try:
            json.loads(text)
        except json.JSONDecodeError as error:
            if error.msg == "Extra data" and text[error.pos :].startswith(("{", "[")):
                return None
            at_its_end = error.pos > len(text) - _LAST or error.msg.startswith("Unterminated string")
            is_cut = len(self.data) >= HEAD_BYTES and at_its_end
            return None if is_cut else BrokenJson(error.lineno, f"{error.msg} at column {error.colno}")
        except RecursionError:
            return BrokenJson(1, "it is nested too deep")
        except ValueError:  # a number with too many digits
            return None
        return None

    @cached_property
    def json(self) -> JsonValue:
        """The first JSON value, as far as it is in the head. None if the head has none."""
        try:
            value: JsonValue = from_json(_without_bom(self.data), allow_partial="trailing-strings")
        except ValueError:
            with suppress(ValueError, RecursionError):
                return next((value for _, value in _one_after_another(_without_bom(self.data))), None)
            return None
        return value

    @cached_property
    def first(self) -> Mapping[str, JsonValue]:
        """The first JSON object (also as the first element of an array), as far as it is in the head; else empty."""
        value = self.json
        if isinstance(value, list) and value:
            value = value[0]
        return value if isinstance(value, dict) else {}

    def listed(self, key: str) -> Mapping[str, JsonValue]:
        """The first object of the list under a key of the first object; empty without one."""
        value = self.first.get(key)
        element = value[0] if isinstance(value, list) and value else None
        return element if isinstance(element, dict) else {}

    def has_key(self, key: str) -> bool:
        """Whether an object anywhere in the first JSON value has this key."""
        pending = [self.json]
        while pending:
            value = pending.pop()
            if isinstance(value, dict):
                if key in value:
                    return True
                pending.extend(value.values())
            elif isinstance(value, list):
                pending.extend(value)
        return False

    @property
    def json_keys(self) -> frozenset[str]:
        """The keys of the first JSON object (also as the first element of an array), as far as they are in the head."""
        return frozenset(self.first)


class Source:
    """A named stream of bytes. A compressed one (gzip) is decompressed.

    `on_read` is called with the size of every piece that is read (bytes, as they are in the file). `on_fault` is called
    with the error of every unreadable record. It raises the error (the default), or returns to skip the record.
    `joins_sessions`: traces of one `session.id` are one, whichever framework wrote them.
    """

    def __init__(
        self,
        name: str,
        stream: BinaryIO,
        on_read: Callable[[int], None] = lambda _: None,
        on_fault: Callable[[FormatError], None] = _refuse,
        *,
        joins_sessions: bool = False,
    ) -> None:
        self.name = name
        self.joins_sessions = joins_sessions
        self._stream = stream
        self._on_read = on_read
        self._on_fault = on_fault
        start = stream.read(len(MAGIC))
        if start == MAGIC:
            self._stream, self._on_read = inflated(start, stream, on_read), lambda _: None
            start = b""
        with self.errors_at(None):
            self._start = start + self._stream.read(HEAD_BYTES)
        self._taken = 0
        self.left_out = 0
        """The number of unreadable records so far."""

    @cached_property
    def head(self) -> Head:
        """The data that the format is recognised by."""
        return Head(PurePath(self.name).name.removesuffix(".gz"), self._start)

    @property
    def stem(self) -> str:
        """The name without folder and suffix, and without `.gz`."""
        return PurePath(self.name.removesuffix(".gz")).stem

    @property
    def loss(self) -> str | None:
        """The warning for a trace from many records if some were unreadable, since these may have belonged to it."""
        if not self.left_out:
            return None
        records = "1 record" if self.left_out == 1 else f"{self.left_out} records"
        return f"{records} of the file could not be read, so this trace may be incomplete"

    def error(self, reason: str, line: int | None = None) -> FormatError:
        """A FormatError about this source."""
        return FormatError(self.name, line, reason)

    def errors_at(self, line: int | None) -> AbstractContextManager[None]:
        """Converts errors of validation and conversion to a FormatError about `line`."""
        return errors_at(self.name, line)

    def record(self, line: int | None) -> AbstractContextManager[None]:
        """Reads one record of many. Like `errors_at`, but passes the error to `on_fault` and counts the record.

        The caller must not use any part of a record before it has validated all of it.
        """
        return _Record(self, line)

    def leave_out(self, fault: FormatError) -> None:
        """Reports an unreadable record, and counts it."""
        self._on_fault(fault)
        self.left_out += 1

    def lines(self) -> Iterator[tuple[int, bytes]]:
        """The non-blank lines, stripped, with their numbers."""
        for number, line in self._all_lines():
            if stripped := line.strip():
                yield number, stripped

    def data(self, size: int | None = None) -> bytes:
        """The next bytes of a binary format: all, or `size` of them and fewer at the end."""
        pieces: list[bytes] = []
        with self.errors_at(None):
            for piece in self._pieces(size):
                self._on_read(len(piece))
                pieces.append(piece)
        return b"".join(pieces)

    def _pieces(self, size: int | None) -> Iterator[bytes]:
        missing = sys.maxsize if size is None else size
        start = self._start[self._taken : self._taken + missing]
        self._taken += len(start)
        missing -= len(start)
        if start:
            yield start
        while missing and (piece := self._stream.read(min(missing, _PIECE_BYTES))):  # a file may state any size
            missing -= len(piece)
            yield piece

    def json_values(self) -> Iterator[tuple[int, JsonValue]]:
        """JSON values with their first lines: one per line or, if the first line is not a JSON value, one in all, or
        several one after another.

        An array is read as its elements. Raises FormatError for an empty source, or one without JSON.
        """
        return ((record.line, record.value) for record in self.json_records())

    def json_values_or(self, read: Callable[[bytes], Parsed | None]) -> Iterator[tuple[int, JsonValue | Parsed]]:
        """The same, where `read` has the first try at each text; None leaves it to JSON."""
        return ((line, value) for _, line, value in self._records(lambda text: read(text) or from_json(text)))

    def json_records(self) -> Iterator[JsonRecord]:
        """The same with the number of each value."""
        return map(JsonRecord._make, self._records(from_json))

    def _records(self, parse: _Parse) -> Iterator[tuple[int, int, Any]]:
        lines = self._all_lines()
        before, (number, first) = self._first_line(lines)
        numbers = count(1)
        try:
            value = parse(first)
        except ValueError:
            rest = list(lines)
            document = b"".join([b"\n" * before, first, *(line for _, line in rest)])
            if not _is_object(next((line for _, line in rest if line.strip()), b"")) or _is_json(document):
                if _begins_with_two(document):
                    with self.record(None):
                        for place, each in _one_after_another(document):
                            yield from _elements(numbers, place, each)
                    return
                yield from _elements(numbers, number, self._parsed(document, None, parse))
                return
            lines = iter([(number, first), *rest])
        else:
            yield from _elements(numbers, number, value)
        for number, line in lines:
            if line.strip():
                with self.record(number):
                    yield from _elements(numbers, number, self._value_of(line, number, numbers, parse))

    def _first_line(self, lines: Iterator[tuple[int, bytes]]) -> tuple[int, tuple[int, bytes]]:
        for before, (number, line) in enumerate(lines):
            if line.strip():
                return before, (number, line)
        raise self.error("is empty")

    def _parsed(self, text: bytes, line: int | None, parse: _Parse) -> Any:  # noqa: ANN401 - see `_Parse`
        try:
            return parse(text)
        except ValueError as error:
            place = _JSON_PLACE.search(str(error))
            where = int(place[1]) if place and line is None else line
            column = f" (column {place[2]})" if place else ""
            raise self.error(f"invalid JSON: {_JSON_PLACE.sub('', str(error))}{column}", where) from error

    def _value_of(self, text: bytes, line: int, numbers: Iterator[int], parse: _Parse) -> Any:  # noqa: ANN401
        """The value of a line. An unreadable line takes a number as well."""
        try:
            return self._parsed(text, line, parse)
        except FormatError:
            next(numbers)
            raise

    def _all_lines(self) -> Iterator[tuple[int, bytes]]:
        start = self._start
        with self.errors_at(None):
            if start and not start.endswith(b"\n"):
                start += self._stream.readline()
            lines = chain(BytesIO(_without_bom(start)), self._stream)
        for number in count(1):
            with self.errors_at(None):
                line = next(lines, b"")
            if not line:
                return
            self._on_read(len(line))
            yield number, line


class _Record(AbstractContextManager[None]):
    """See `Source.record`. (Not a generator, since a file may have a million records.)"""

    __slots__ = ("_line", "_source")

    def __init__(self, source: Source, line: int | None) -> None:
        self._source, self._line = source, line

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool:
        if isinstance(error, FormatError):
            self._source.leave_out(error)
        elif isinstance(error, ValueError | ArithmeticError):
            fault = _fault_at(self._source.name, self._line, error)
            fault.__cause__ = error
            self._source.leave_out(fault)
        else:
            return False
        return True


def _without_bom(data: bytes) -> bytes:
    return data.removeprefix(_BOM)


def _elements(numbers: Iterator[int], line: int, value: object) -> Iterator[tuple[int, int, Any]]:
    elements = value if isinstance(value, list) else [value]
    return ((next(numbers), line, element) for element in elements)


def _one_after_another(text: bytes) -> Iterator[tuple[int, JsonValue]]:
    """The JSON values of a text that are written one after another, each with its line. Raises ValueError."""
    written = text.decode("utf-8", "replace")
    start, line = _SPACE.match(written).end(), 1  # type: ignore[union-attr]  # it matches anything
    line += written.count("\n", 0, start)
    while start < len(written):
        value, end = _DECODER.raw_decode(written, start)
        yield line, value
        after = _SPACE.match(written, end).end()  # type: ignore[union-attr]
        start, line = after, line + written.count("\n", start, after)


def _begins_with_two(text: bytes) -> bool:
    try:
        return len(list(islice(_one_after_another(text), 2))) == 2
    except (ValueError, RecursionError):
        return False


def _is_json(text: bytes) -> bool:
    try:
        from_json(text)
    except ValueError:
        return False
    return True


def _is_object(text: bytes) -> bool:
    return text.lstrip().startswith(b"{") and _is_json(text)


def reasons(error: ValidationError) -> str:
    """The errors on one line: `steps[1].call_type: Input should be 'AGENT', 'TOOL' or 'HOST'`."""
    details = error.errors(include_url=False, include_input=False)
    reasons = [_reason(detail) for detail in details[:_MAX_REASONS]]
    if len(details) > _MAX_REASONS:
        reasons.append(f"and {len(details) - _MAX_REASONS} more")
    return "; ".join(reasons)


def _reason(detail: ErrorDetails) -> str:
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in detail["loc"]).lstrip(".")
    message = "unknown key" if detail["type"] == "extra_forbidden" else detail["msg"].removeprefix("Value error, ")
    return _shortened(f"{where}: {message}" if where else message)


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_MESSAGE else f"{text[:_MAX_MESSAGE]}…"
