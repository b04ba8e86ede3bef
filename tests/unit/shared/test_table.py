"""Long lists in a row: columns in JSON that hold the same records, and cannot unfold without bound."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import BaseModel, JsonValue, ValidationError

from concord.assessment import table
from concord.assessment.result_row import ResultRow
from concord.assessment.table import MAX_LISTED, MAX_ROWS, MAX_TEXT, ColumnTable, Table, listed
from tests.kit.team_rows import all_with_all, mesh_of_five

LONG = MAX_LISTED + 1


class Part(BaseModel):
    name: str


class Cell(BaseModel):
    text: str
    number: int | None
    share: float | None
    parts: list[Part]


class Document(BaseModel):
    cells: Table[Cell]


_texts = (
    st.sampled_from(["", "a", "[]", '{"name": "a"}'])
    | st.text(max_size=5)
    | st.builds("http://agent-{}.test/".format, st.integers(0, 99))
)
_cells = st.builds(
    Cell,
    text=_texts,
    number=st.none() | st.integers(0, 3),
    share=st.none() | st.floats(allow_nan=False, allow_infinity=False),
    parts=st.lists(st.builds(Part, name=_texts), max_size=2),
)


@settings(max_examples=15)
@given(st.lists(_cells, min_size=1, max_size=8), st.sampled_from([1, MAX_LISTED, LONG]))
def test_a_list_of_any_length_is_read_as_it_was_written(cells: list[Cell], length: int) -> None:
    document = Document(cells=(cells * length)[:length])
    written = document.model_dump_json()
    assert Document.model_validate_json(written) == document
    assert Document.model_validate(json.loads(written)) == document
    assert listed(json.loads(written)) == document.model_dump(), "without the model, too"


@pytest.mark.parametrize(
    ("numbers", "form"),
    [
        ([7] * LONG, {"values": [7]}),
        ([*[1] * 500, *[2] * 200, *[1] * 500], {"values": [1, 2, 1], "runs": [500, 200, 500]}),
        ([*range(LONG), *range(LONG), 3, 5], {"values": [*range(LONG)], "places": [(0, 500), (0, 500), 3, 5]}),
        ([*range(LONG), 3], {"values": [*range(LONG), 3]}),
    ],
    ids=["one value", "runs", "ranges of places", "nearly no repetition"],
)
def test_a_column_has_its_shortest_form(numbers: list[int], form: dict[str, object]) -> None:
    written = Document(cells=[_cell(number) for number in numbers]).model_dump_json()
    column = next(each for each in json.loads(written)["cells"]["columns"] if each["name"] == "number")
    plain = {"name": "number", "runs": None, "places": None, "prefix": "", "suffix": ""}
    assert column == json.loads(json.dumps(plain | form))
    assert [cell.number for cell in Document.model_validate_json(written).cells] == numbers


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 4), st.integers(1, 9)), min_size=1, max_size=30))
def test_numbers_in_runs_and_series_are_read_as_they_were_written(parts: list[tuple[int, int]]) -> None:
    some = [n for start, length in parts for n in (*range(start, start + length), *[start] * length)]
    numbers = (some * LONG)[: LONG + len(some)]
    document = Document(cells=[_cell(number) for number in numbers])
    assert Document.model_validate_json(document.model_dump_json()) == document


@pytest.mark.parametrize(
    ("form", "parts", "prefix", "suffix"),
    [
        ("http://agent-{}.test/", [str(n) for n in range(LONG)], "http://agent-", ".test/"),
        ("{0}-{0}", [f"{n}-{n}" for n in range(LONG)], "", ""),
        ("a" * 3 + "{}", ["", *map(str, range(1, LONG))], "aaa", ""),
    ],
    ids=["addresses", "nothing in common", "one is the prefix of all others"],
)
def test_a_column_of_texts_names_once_what_all_have_in_common(
    form: str, parts: list[str], prefix: str, suffix: str
) -> None:
    texts = [form.format(part) if form[0] != "{" else part for part in parts]
    document = Document(cells=[Cell(text=text, number=0, share=None, parts=[]) for text in texts])
    written = document.model_dump_json()
    column = next(each for each in json.loads(written)["cells"]["columns"] if each["name"] == "text")
    assert (column["values"], column["prefix"], column["suffix"]) == (parts, prefix, suffix)
    assert Document.model_validate_json(written) == document


def test_numbers_that_a2a_made_floats_are_read() -> None:
    written = json.loads(_many().model_dump_json(), parse_int=float)
    assert Document.model_validate(written) == _many()


@pytest.mark.parametrize(("length", "form"), [(MAX_LISTED, list), (LONG, dict), (600, dict), (601, list)])
def test_only_what_readers_take_as_a_table_becomes_one(
    length: int, form: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "MAX_ROWS", 600)
    [cell] = _many().cells[:1]
    document = Document(cells=[cell] * length)
    assert isinstance(document.model_dump(mode="json")["cells"], form)
    assert Document.model_validate_json(document.model_dump_json()) == document


def test_in_python_a_long_list_stays_a_list() -> None:
    assert len(_many().model_dump()["cells"]) == LONG


def test_a_row_of_a_hundred_agents_that_all_wrote_to_each_other_is_small() -> None:
    row = all_with_all(100)
    written = row.model_dump_json()
    assert len(written) < 250_000
    assert ResultRow.model_validate_json(written) == row


def test_a_row_of_an_earlier_version_has_lists_and_is_read() -> None:
    row = all_with_all(30)
    earlier = json.dumps(row.model_dump())
    assert len(row.detail.trials[0].interactions) > MAX_LISTED
    assert ResultRow.model_validate_json(earlier) == row
    assert listed(json.loads(row.model_dump_json())) == json.loads(earlier), "what `verify` compares"


def test_a_row_of_a_small_team_has_lists_of_objects_only() -> None:
    assert json.loads(mesh_of_five().model_dump_json()) == json.loads(json.dumps(mesh_of_five().model_dump()))


def _many() -> Document:
    return Document(cells=[Cell(text=f"{n % 7}", number=n % 3, share=n / 2, parts=[]) for n in range(LONG)])


def _cell(number: int) -> Cell:
    return Cell(text="", number=number, share=None, parts=[])


def _changed(column: str, **changes: object) -> dict[str, object]:
    document: dict[str, object] = _many().model_dump(mode="json")
    whole = ColumnTable.model_validate(document["cells"])
    return {"cells": whole.model_dump() | {"columns": _with(whole, column, changes)}}


def _with(whole: ColumnTable, column: str, changes: dict[str, object]) -> list[dict[str, object]]:
    return [each.model_dump() | (changes if each.name == column else {}) for each in whole.columns]


@pytest.mark.parametrize(
    "wrong",
    [
        _changed("text", places=[0] * LONG),
        _changed("text", places=[7] * LONG),
        _changed("text", places=[-1] * LONG),
        _changed("text", places=[0, 1]),
        _changed("text", places=[(0, 6)] * 71 + [(0, 4), (3, 3), (6, 5)]),
        _changed("text", places=[(6, 0), *[0] * (LONG + 5)]),
        _changed("text", places=[(0, 10**12)]),
        _changed("text", places=[(0, 10**12), (10**12, LONG + 1)]),
        _changed("text", places=[(0, 1, 2)]),
        _changed("text", places=[(0, LONG - 1)], values=["a"] * 7),
        _changed("text", runs=[1] * 7),
        _changed("text", runs=[LONG], places=None, values=["a", "b"]),
        _changed("text", runs=[LONG, 0], places=None, values=["a", "b"]),
        _changed("text", runs=[LONG + 1, -1], places=None, values=["a", "b"]),
        _changed("text", runs=[LONG + 1], places=None, values=["a"]),
        _changed("number", prefix="1"),
        _changed("parts", suffix="]"),
        _changed("share", values=[1.0, 2.0]),
        _changed("share", values=[]),
        _changed("parts", values=["no list"]),
        _changed("number", hidden="text that no reader sees"),
        _changed("number", name="share"),
        {"cells": {"rows": 10**9, "columns": [{"name": "text", "values": ["a"], "places": None}]}},
        {"cells": {"rows": LONG, "columns": []}},
        {"cells": {"columns": []}},
    ],
)
def test_an_inconsistent_table_is_refused_and_never_shown_as_something_else(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Document.model_validate(wrong)


@pytest.mark.parametrize(
    "form",
    [{}, {"runs": [1, MAX_ROWS - 1]}, {"places": [0] + [1] * (MAX_ROWS - 1)}],
    ids=["one value", "runs", "places"],
)
def test_a_small_table_does_not_unfold_to_gigabytes(form: dict[str, object]) -> None:
    long = "x" * (MAX_TEXT // MAX_ROWS + 1)
    column = {"name": "text", "values": ["", long] if form else [long], **form}
    with pytest.raises(ValidationError, match="unfolds to more"):
        Document.model_validate({"cells": {"rows": MAX_ROWS, "columns": [column]}})


def test_a_long_prefix_is_not_repeated_to_gigabytes() -> None:
    whole = ColumnTable.model_validate(_many().model_dump(mode="json")["cells"]).model_dump()
    for affix in ("prefix", "suffix"):
        columns = [each | {affix: "x" * (MAX_TEXT // LONG + 1)} for each in whole["columns"] if each["name"] == "text"]
        with pytest.raises(ValidationError, match="unfolds to more"):
            Document.model_validate({"cells": whole | {"columns": columns}})


def test_what_only_looks_like_a_table_stays_as_it_is() -> None:
    looks: dict[str, JsonValue] = {"rows": 3, "columns": {"answer": "an agent's own data"}}
    assert listed({"answer": looks}) == {"answer": looks}
