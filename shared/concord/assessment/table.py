"""Long lists of records in the JSON of a row: as columns, in a tenth of the size. In Python they remain lists."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Final, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetCoreSchemaHandler, GetJsonSchemaHandler, JsonValue
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

MAX_LISTED: Final = 500
"""Records that are written as a list of objects. More of them are written as columns."""

MAX_ROWS: Final = 100_000
"""Records of a table. A longer list is written as it is."""

MAX_TEXT: Final = 32 * 1024 * 1024
"""Characters of all cells of a table, each written out: a table names a value once, however many cells have it."""


class Column(BaseModel):
    """The values of the field `name`. Either of each record, in order; or the distinct ones, and the place of each
    record's value among them. A single value without places is that of every record."""

    model_config = ConfigDict(frozen=True, extra="forbid", json_schema_serialization_defaults_required=True)

    name: str
    values: list[JsonValue]
    places: list[Annotated[int, Field(ge=0)]] | None = None


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
    columns = [{"name": name, **_column([row[name] for row in rows])} for name in rows[0]]
    return {"rows": len(rows), "columns": columns}


def _column(cells: Sequence[JsonValue]) -> dict[str, JsonValue]:
    keys = [json.dumps(cell) if isinstance(cell, dict | list) else cell for cell in cells]
    distinct = dict(zip(keys, cells, strict=True))
    values: list[JsonValue] = list(distinct.values())
    if len(values) == 1:
        return {"values": values, "places": None}
    if 2 * len(values) > len(cells):
        return {"values": list(cells), "places": None}
    place = {key: number for number, key in enumerate(distinct)}
    return {"values": values, "places": [place[key] for key in keys]}


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
    lengths = [len(json.dumps(value)) for value in column.values]
    if column.places is None:
        if len(lengths) not in {1, rows}:
            raise ValueError(f"column {column.name!r} has {len(lengths)} values for {rows} rows")
        return sum(lengths) if len(lengths) == rows else rows * lengths[0]
    if len(column.places) != rows or {*column.places} != {*range(len(lengths))}:
        raise ValueError(f"the places of column {column.name!r} do not name its values, one for each of {rows} rows")
    return sum(lengths[place] for place in column.places)


def _cells(rows: int, column: Column) -> Sequence[JsonValue]:
    if column.places is not None:
        return [column.values[place] for place in column.places]
    return column.values if len(column.values) == rows else column.values * rows
