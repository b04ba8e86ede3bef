"""JSON documents from parts that are JSON already, so that rows that have not changed are not serialised again."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TypeAlias, TypeVar

from pydantic import BaseModel
from pydantic_core import to_json

from concord_environment.modalities.modality import States

Q = TypeVar("Q")

JsonPart: TypeAlias = "bytes | Mapping[str, JsonPart] | Sequence[JsonPart]"
"""JSON, or an object or an array of parts."""


def json_of(part: JsonPart) -> bytes:
    """A part as JSON."""
    # A document can have megabytes: each byte is copied once.
    chunks: list[bytes] = []
    _collect(part, chunks)
    return b"".join(chunks)


def _collect(part: JsonPart, chunks: list[bytes]) -> None:
    if isinstance(part, bytes):
        chunks.append(part)
    elif isinstance(part, Mapping):
        before = b"{"
        for name, value in part.items():
            chunks.append(b"%b%b:" % (before, to_json(name)))
            if isinstance(value, bytes):
                chunks.append(value)
            else:
                _collect(value, chunks)
            before = b","
        chunks.append(b"}" if part else b"{}")
    else:
        before = b"["
        for value in part:
            chunks.append(before)
            _collect(value, chunks)
            before = b","
        chunks.append(b"]" if before == b"," else b"[]")


def json_fields(values: Mapping[str, object]) -> dict[str, JsonPart]:
    """Each value as JSON, by name."""
    return {name: to_json(value) for name, value in values.items()}


def as_json(view: Callable[[States, datetime, Q], BaseModel]) -> Callable[[States, datetime, Q], bytes]:
    """The JSON of a view."""

    def write(world: States, now: datetime, selection: Q) -> bytes:
        model = view(world, now, selection)
        return model.__pydantic_serializer__.to_json(model)

    return write
