"""JSON as protobuf's `Struct` and `Value`, and back, in a third of the time of `google.protobuf.json_format`.

That looks up descriptors for each value, and a row has thousands of them for each trial.
"""

from collections.abc import Mapping
from math import isfinite
from typing import Final

from google.protobuf.json_format import ParseError
from google.protobuf.struct_pb2 import Struct, Value
from pydantic import JsonValue

MAX_DEPTH: Final = 49
"""Levels of JSON below each other: as many objects as `ParseDict` takes."""


def value_of(data: JsonValue) -> Value:
    """JSON as a `Value`. Raises ParseError, as `ParseDict` does, for what is no JSON or too deep."""
    value = Value()
    _fill(value, data, MAX_DEPTH)
    return value


def struct_of(mapping: Mapping[str, JsonValue]) -> Struct:
    """A JSON object as a `Struct`. Raises ParseError, as `value_of` does."""
    struct = Struct()
    for name, each in mapping.items():
        _fill(struct.fields[name], each, MAX_DEPTH - 1)
    return struct


def json_of(message: Struct | Value) -> JsonValue:
    """The JSON of a message; its numbers are floats. Raises ValueError, as `MessageToDict` does, for one that is not
    finite."""
    return object_of(message) if isinstance(message, Struct) else _json(message)


def object_of(struct: Struct) -> dict[str, JsonValue]:
    """The JSON object of a `Struct`. Raises ValueError, as `json_of` does."""
    return {name: _json(each) for name, each in struct.fields.items()}


def _fill(value: Value, data: JsonValue, depth: int) -> None:
    if isinstance(data, str):
        value.string_value = data
    elif data is None:
        value.null_value = 0  # type: ignore[assignment]  # the enumeration's only value
    elif isinstance(data, bool):
        value.bool_value = data
    elif isinstance(data, int | float):
        value.number_value = data
    elif depth == 0:
        raise ParseError(f"the JSON is deeper than {MAX_DEPTH} levels")
    elif isinstance(data, dict):
        value.struct_value.SetInParent()  # an empty one as well
        fields = value.struct_value.fields
        for name, each in data.items():
            _fill(fields[name], each, depth - 1)
    elif isinstance(data, list | tuple):
        value.list_value.SetInParent()
        add = value.list_value.values.add
        for each in data:
            _fill(add(), each, depth - 1)
    else:
        raise ParseError(f"{type(data).__name__} is no JSON")


def _json(value: Value) -> JsonValue:
    match value.WhichOneof("kind"):
        case "string_value":
            return value.string_value
        case "number_value":
            return _finite(value.number_value)
        case "struct_value":
            return object_of(value.struct_value)
        case "list_value":
            return [_json(each) for each in value.list_value.values]
        case "bool_value":
            return value.bool_value
        case _:
            return None


def _finite(number: float) -> float:
    if not isfinite(number):
        raise ValueError(f"{number} is no JSON")
    return number
