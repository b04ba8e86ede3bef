"""Result tables: a section is written between its markers, and the rest of the document stays."""

from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.tables import Chart, ResultTable, count, write_section

TABLE = ResultTable("Rates", "By CPU second.", ("Variant", "Steps/s"), [("collector", "201 k")])


def test_a_section_is_replaced_and_the_rest_kept(tmp_path: Path) -> None:
    document = tmp_path / "benchmarks.md"
    document.write_text(
        "# Benchmarks\n\nOn this machine.\n\n<!-- a -->\nold\n<!-- /a -->\n\n<!-- b -->\nkept\n<!-- /b -->\n"
    )
    for _ in range(2):
        write_section(document, "a", [TABLE])
    text = document.read_text()
    assert "old" not in text
    assert "On this machine." in text
    assert "<!-- b -->\nkept\n<!-- /b -->\n" in text
    assert text.count("| collector | 201 k |") == 1


def test_a_missing_section_is_added(tmp_path: Path) -> None:
    document = tmp_path / "benchmarks.md"
    write_section(document, "a", [TABLE])
    write_section(document, "b", [TABLE])
    assert document.read_text().count("### Rates") == 2


def test_a_table_says_below_where_and_when_it_was_measured() -> None:
    measured = replace(TABLE, measured="Measured today on 2 cores.").markdown()
    assert measured == f"{TABLE.markdown()}\nMeasured today on 2 cores.\n"


@pytest.mark.parametrize(
    ("value", "written"), [(201_345, "201 k"), (3_100_000, "3.1 M"), (0.4188, "0.419"), (12, "12")]
)
def test_numbers_have_three_significant_digits(value: float, written: str) -> None:
    assert count(value) == written


def test_a_chart_has_its_points_in_order_and_room_above_the_highest() -> None:
    lines = Chart("Cost", "steps", "µs", {"1 k": 9.5, "10 k": 110.0}).markdown().splitlines()
    assert lines[:2] == ["```mermaid", "xychart-beta"]
    assert '    x-axis "steps" ["1 k", "10 k"]' in lines
    assert "    line [9.5, 110]" in lines
    top = next(float(line.split("--> ")[1]) for line in lines if "-->" in line)
    assert top >= 110
