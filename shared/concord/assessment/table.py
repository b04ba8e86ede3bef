"""The records of a row, and long lists of them: columns in its JSON, a twelfth of the size, and lists in Python."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, compress, count, repeat
from operator import itemgetter, mul, ne, sub
from typing import Annotated, Final, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


class Record(BaseModel):
    """A part of the row: frozen, no unknown keys, every key present in its JSON."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        allow_inf_nan=False,
        json_schema_serialization_defaults_required=True,
        defer_build=True,  # most commands use few of the records, and to build all takes a third of a second
    )


# Long lists of records.

MAX_LISTED: Final = 500
"""Records that are written as a list of objects. More of them are written as columns."""

MAX_ROWS: Final = 100_000
"""Records of a table. A longer list is written as it is."""

MAX_TEXT: Final = 32 * 1024 * 1024
"""Characters of all cells of a table, each as Python writes it: a table names a value once, however many have it."""


VALUE_COST: Final = 3
"""What a value takes in the file, in places or lengths of runs: names and measured figures are longer than numbers."""

FEWEST_IN_RANGE: Final = 3
"""Places of a range: two are as short without brackets."""

_COUNTING_UP: Final = re.compile(b"\x01{%d,}" % (FEWEST_IN_RANGE - 1))
"""In the steps from place to place, those of a range."""

FEWEST_TEXTS: Final = 10
"""Texts of a column from which on it names once what all of them have in common: fewer are easier to read whole."""

Place = Annotated[int, Field(ge=0)]
Places: TypeAlias = list[Place | tuple[Place, Place]]


class Column(BaseModel):
    """The values of the field `name`: of each record, in order, or a single one that all have.

    With `runs`: each of the values, and how many records in succession have it. With `places`: the distinct values,
    and for each record the place of its value among them; a pair stands for all places from the first to the second.
    Each value that is a text stands for itself between `prefix` and `suffix`; where these are, other values are null.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    name: str
    values: list[JsonValue]
    runs: list[Annotated[int, Field(ge=1)]] | None = None
    places: Places | None = None
    prefix: str = ""
    suffix: str = ""


class ColumnTable(BaseModel):
    """A list of records as columns, one for each field. Records have every field."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rows: Annotated[int, Field(gt=MAX_LISTED, le=MAX_ROWS)]
    columns: Annotated[list[Column], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class _AsColumns:
    """Reads a list of records in both forms, and writes a long one as columns into JSON."""

    def __get_pydantic_core_schema__(self, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        records = handler(source)
        writing = core_schema.wrap_serializer_function_ser_schema(_written, schema=records, when_used="json")
        return core_schema.no_info_before_validator_function(_read, records, serialization=writing)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return {"anyOf": [handler(schema["schema"]), handler(ColumnTable.__pydantic_core_schema__)]}


T = TypeVar("T")
Table = Annotated[list[T], _AsColumns()]
"""A field of the row: a list of records, of which any number may be. In JSON, a list of objects or a `ColumnTable`."""


def listed(document: JsonValue) -> JsonValue:
    """The document with lists of objects in place of its tables. What is no valid table stays as it is."""
    if isinstance(document, list):
        return list(map(listed, document))
    if not isinstance(document, dict):
        return document
    if document.keys() == ColumnTable.model_fields.keys():
        try:
            return _records(document)
        except ValueError:
            return document
    return {key: listed(value) for key, value in document.items()}


def _written(
    records: list[object], handler: core_schema.SerializerFunctionWrapHandler
) -> list[dict[str, JsonValue]] | dict[str, object]:
    rows: list[dict[str, JsonValue]] = handler(records)
    if not MAX_LISTED < len(rows) <= MAX_ROWS:
        return rows
    columns = [{"name": name, **_column(list(map(itemgetter(name), rows)))} for name in rows[0]]
    return {"rows": len(rows), "columns": columns}


def _column(cells: Sequence[JsonValue]) -> dict[str, object]:
    """The shortest form of a column."""
    plain = {dict, list}.isdisjoint(map(type, cells))
    keys = cells if plain else [repr(cell) if isinstance(cell, dict | list) else cell for cell in cells]
    distinct = dict(zip(keys, cells, strict=True))
    if len(distinct) == 1:
        return _form([cells[0]])
    starts = [0, *compress(count(1), map(ne, keys[1:], keys))]
    in_runs = (VALUE_COST + 1) * len(starts)
    if in_runs > VALUE_COST * len(distinct) + len(cells) - len(starts):  # a cell like the one before it is in no range
        number = {key: place for place, key in enumerate(distinct)}
        places = _ranges(list(map(number.__getitem__, keys)))
        placed = VALUE_COST * len(distinct) + len(places) + sum(isinstance(each, tuple) for each in places)
        if VALUE_COST * len(cells) <= min(placed, in_runs):
            return _form(list(cells))
        if placed < in_runs:
            return _form(list(distinct.values()), places=places)
    return _form([cells[start] for start in starts], runs=list(map(sub, [*starts[1:], len(cells)], starts)))


def _form(values: list[JsonValue], runs: list[int] | None = None, places: Places | None = None) -> dict[str, object]:
    prefix, parts, suffix = _without_affixes(values)
    return {"values": parts, "runs": runs, "places": places, "prefix": prefix, "suffix": suffix}


def _without_affixes(values: list[JsonValue]) -> tuple[str, list[JsonValue], str]:
    """The texts without what all of them begin and end with, as names and addresses do, and nulls as they are."""
    texts = [each for each in values if isinstance(each, str)]
    if len(texts) < FEWEST_TEXTS or len(texts) + values.count(None) < len(values):
        return "", values, ""
    prefix = _common_start(texts)
    suffix = _common_start([text[len(prefix) :][::-1] for text in texts])[::-1]
    parts = [each[len(prefix) : len(each) - len(suffix)] if isinstance(each, str) else each for each in values]
    return prefix, parts, suffix


def _common_start(texts: Sequence[str]) -> str:
    """What all texts begin with: what the first and the last of them do, in their order."""
    first, last = min(texts), max(texts)
    differ = (place for place, (one, other) in enumerate(zip(first, last, strict=False)) if one != other)
    return first[: next(differ, len(first))]


def _ranges(places: list[int]) -> Places:
    """The places, those that count up as pairs."""
    ranges: Places = []
    done = 0
    for steps in _COUNTING_UP.finditer(bytes(map((1).__eq__, map(sub, places[1:], places)))):
        ranges += places[done : steps.start()]
        ranges.append((places[steps.start()], places[steps.end()]))
        done = steps.end() + 1
    return ranges + places[done:]


def _read(value: object) -> object:
    return _records(value) if isinstance(value, dict) else value


def _records(value: dict[str, JsonValue]) -> list[JsonValue]:
    """The records of a table. Raises ValueError for one that is inconsistent, or unfolds to too much text."""
    table = ColumnTable.model_validate(value)
    names = [column.name for column in table.columns]
    if len({*names}) < len(names):
        raise ValueError("two columns have one name")
    text = 0
    for column in table.columns:
        text += _characters(table.rows, column)
        if text > MAX_TEXT:
            raise ValueError(f"the table unfolds to more than {MAX_TEXT} characters")
    cells = [_cells(table.rows, column) for column in table.columns]
    return [dict(zip(names, row, strict=True)) for row in zip(*cells, strict=True)]


def _characters(rows: int, column: Column) -> int:
    """The characters of all cells of a column. Raises ValueError unless it has a value for each row, and no other."""
    affixes = len(column.prefix) + len(column.suffix)
    if affixes and not all(value is None or isinstance(value, str) for value in column.values):
        raise ValueError(f"column {column.name!r} has a prefix or a suffix, and values that are no texts")
    lengths = [len(value) + affixes if isinstance(value, str) else len(str(value)) for value in column.values]
    if column.runs is not None:
        if column.places is not None or len(column.runs) != len(lengths) or sum(column.runs) != rows:
            raise ValueError(f"the runs of column {column.name!r} are not those of its values in {rows} rows")
        return sum(map(mul, lengths, column.runs))
    if column.places is None:
        if len(lengths) not in {1, rows}:
            raise ValueError(f"column {column.name!r} has {len(lengths)} values for {rows} rows")
        return sum(lengths) if len(lengths) == rows else rows * lengths[0]
    sizes = [1 if isinstance(each, int) else each[1] - each[0] + 1 for each in column.places]
    if min(sizes, default=0) > 0 and sum(sizes) == rows:
        places = list(_unfolded(column.places))
        if {*places} == {*range(len(lengths))}:
            return sum(map(lengths.__getitem__, places))
    raise ValueError(f"the places of column {column.name!r} do not name its values, one for each of {rows} rows")


def _unfolded(places: Places) -> Iterator[int]:
    return chain.from_iterable([each] if isinstance(each, int) else range(each[0], each[1] + 1) for each in places)


def _cells(rows: int, column: Column) -> Iterable[JsonValue]:
    values = _whole(column)
    if column.runs is not None:
        return chain.from_iterable(map(repeat, values, column.runs))
    if column.places is not None:
        return map(values.__getitem__, _unfolded(column.places))
    return values if len(values) == rows else values * rows


def _whole(column: Column) -> list[JsonValue]:
    """The values of a column with its prefix and suffix."""
    if not column.prefix and not column.suffix:
        return column.values
    return [f"{column.prefix}{each}{column.suffix}" if isinstance(each, str) else each for each in column.values]
