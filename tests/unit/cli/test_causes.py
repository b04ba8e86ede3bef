"""`concord explain`: the diagnosis of each trace as text or JSON, offline; texts of agents are never obeyed."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.main import app
from tests.kit.failed_runs import COOPERBENCH_FILES as FILES
from tests.kit.failed_runs import GRADES, MINE, YOURS

pytestmark = pytest.mark.usefixtures("research_formats")

HOSTILE = MINE.replace("mine", "\x1b[31m\x9b31m[red]mine[/]")


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    """A failed run whose cause is known, and one that is not graded."""
    for name, files in {
        "a": {**FILES, "agent1.patch": MINE, "agent2.patch": YOURS, "eval.json": GRADES},
        "b": {
            **FILES,
            "agent1.patch": MINE.replace("mine", "\x1b[31m[red]mine[/]"),
            "agent2.patch": YOURS,
            "eval.json": {},
        },
    }.items():
        folder = tmp_path / name
        folder.mkdir()
        for file, content in files.items():
            (folder / file).write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path


def test_each_trace_has_its_causes_or_what_was_observed_in_it(runs: Path) -> None:
    result = CliRunner().invoke(app, ["explain", str(runs)])
    assert result.exit_code == 0, result.output
    first, second = result.output.split("Not judged")
    assert "What failed, or cost points" in first
    assert "agent1 and agent2 changed the same lines, so that their work could not be merged (proven, 100.0" in first
    assert "Observed; nobody has shown that it cost anything" in second
    assert "To read first (not blame; unproven)" in second
    assert not {"\x1b", "\x9b"} & set(result.output)
    assert "[red]mine[/]" in second


def test_json_has_an_object_for_each_trace_on_a_line(runs: Path) -> None:
    result = CliRunner().invoke(app, ["explain", str(runs), "--json"])
    assert result.output.isascii()
    known, unknown = map(json.loads, result.output.splitlines())
    assert (known["verdict"], unknown["verdict"]) == ("Failed", "Not judged")
    assert [each["certainty"] for each in known["causes"]] == ["proven"]
    assert (unknown["outcome"], unknown["causes"]) == (None, [])
    assert [each["kind"] for each in unknown["observations"]] == ["clashing_edits"]


def test_a_file_that_is_no_trace_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("no trace")
    result = CliRunner().invoke(app, ["explain", str(tmp_path)])
    assert result.exit_code == 2
    assert "not a trace in any known format" in result.output
