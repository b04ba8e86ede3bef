"""OTLP protobuf files: one export request, or many with the length of each before it, as the collector writes them."""

import re
from collections.abc import Iterator
from itertools import count
from typing import Final

from concord.trace.otlp.protobuf_form import read_protobuf
from concord_evaluator.formats.source import Head, Source
from concord_evaluator.formats.span_recordings import ReadSpan

_LENGTH_BYTES: Final = 4
_RESOURCE_SPANS: Final = 0x0A
"""The tag of the first field of a request: `resource_spans`, with a length."""

_NOT_IN_TEXT: Final = re.compile(rb"[\x00-\x08\x0e-\x1f]")

EXPECTED: Final = "an ExportTraceServiceRequest, alone or after its length in 4 bytes (big endian)"


def is_protobuf(head: Head) -> bool:
    """Whether a file looks like a request in protobuf, which has bytes that text never has."""
    data = head.data
    return _NOT_IN_TEXT.search(data[:1024]) is not None and (_is_request(data) or _has_length(data))


def _is_request(data: bytes) -> bool:
    return data[:1] == bytes([_RESOURCE_SPANS])


def _has_length(data: bytes) -> bool:
    """Whether the data starts with a length. The length of a request below 160 MB does not start with the tag."""
    return data[:1] != bytes([_RESOURCE_SPANS]) and data[_LENGTH_BYTES : _LENGTH_BYTES + 1] == bytes([_RESOURCE_SPANS])


def protobuf_spans(source: Source) -> Iterator[ReadSpan]:
    """The spans of a file, each with the number of its message in place of a line. Raises FormatError."""
    for number, message in enumerate(_messages(source), 1):
        with source.record(number):
            try:
                spans = read_protobuf(message)
            except ValueError as error:
                raise ValueError(f"message {number} cannot be read; expected {EXPECTED}") from error
            yield from [ReadSpan.of(span, number) for span in spans]


def _messages(source: Source) -> Iterator[bytes]:
    if not _has_length(source.head.data):
        yield source.data()
        return
    at = 0
    for number in count(1):
        if not (length := source.data(_LENGTH_BYTES)):
            return
        message = source.data(size := int.from_bytes(length, "big"))
        reached, end = at + len(length) + len(message), at + _LENGTH_BYTES + size
        if reached < end:
            raise source.error(f"message {number} is cut off at byte {reached} of {end}; expected {EXPECTED}", number)
        yield message
        at = end
