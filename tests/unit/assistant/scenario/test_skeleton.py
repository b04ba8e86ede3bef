"""The skeleton of a scenario, and the file and line that errors name."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from concord_assistant.office.published import published_day
from concord_assistant.scenario.lint import lint
from concord_assistant.scenario.loader import ScenarioError, load_scenario
from concord_assistant.scenario.places import line_of, place_of
from concord_assistant.scenario.skeleton import write_skeleton
from concord_cli.main import app
from tests.unit.assistant.scenario.folders import STATE, write


def test_the_skeleton_has_no_faults_and_is_graded_as_a_day(tmp_path: Path) -> None:
    write_skeleton(tmp_path / "my_day")
    scenario = load_scenario(tmp_path / "my_day")
    assert (scenario.config.scenario_id, lint(scenario)) == ("my_day", [])
    assert scenario.config.day is not None
    assert [each.errand_id for each in scenario.config.day.errands] == ["order"]


def test_a_published_day_can_be_the_beginning(tmp_path: Path) -> None:
    write_skeleton(tmp_path / "mine", "office-1-01")
    written, published = load_scenario(tmp_path / "mine").config, published_day("office-1-01")
    assert written.day == published.day
    assert written.initial_state == published.initial_state


@pytest.mark.parametrize(("name", "code"), [("my_day", 0), ("there", 2), ("My Day", 2)])
def test_new_writes_a_folder_that_is_not_there(name: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    result = CliRunner().invoke(app, ["scenario", "new", str(tmp_path / name)])
    assert result.exit_code == code
    assert (tmp_path / "my_day" / "scenario.json").is_file() == (code == 0)


@pytest.mark.parametrize("events", [[], {"events": {}}, {"events": ["x"]}, 7])
def test_events_of_another_form_are_an_error_with_file_and_line(events: Any, tmp_path: Path) -> None:  # noqa: ANN401
    folder = write(tmp_path / "s", state=STATE | {"events": events})
    file = folder / "initial_state.json"
    file.write_text(json.dumps(json.loads(file.read_text()), indent=1))
    line = next(number for number, text in enumerate(file.read_text().splitlines(), 1) if '"events"' in text)
    with pytest.raises(ScenarioError, match=r"initial_state\.events") as error:
        load_scenario(folder)
    named = int(str(error.value).removeprefix(f"{file}:").partition(":")[0])
    assert line <= named <= line + 2


DOCUMENT = '{\n "a": [\n  1,\n  {"b": "x\\n}",\n   "c": null}\n ],\n "d": {}\n}'


@pytest.mark.parametrize(
    ("location", "line"),
    [((), 1), (("a",), 2), (("a", 0), 3), (("a", 1), 4), (("a", 1, "c"), 5), (("d",), 7), (("d", "e"), 7), (("z",), 1)],
)
def test_a_line_is_that_of_the_value_or_of_the_innermost_one_around_it(
    location: tuple[int | str, ...], line: int
) -> None:
    assert line_of(DOCUMENT, location) == line


def test_a_field_without_a_file_has_no_line(tmp_path: Path) -> None:
    assert place_of(tmp_path, "criteria[0]") == str(tmp_path / "scenario.json")
