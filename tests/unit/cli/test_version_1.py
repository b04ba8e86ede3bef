"""Rows of a version 1 stack can be read, displayed, and compared with each other."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.compare.comparison import Comparison
from concord_cli.main import app
from concord_cli.results_file import read_rows
from concord_cli.row_view.score import rating_of
from tests.kit.team_rows import mesh_of_five
from tests.unit.cli.report.pages import parse_page

FOLDER = Path(__file__).parent / "version_1"
HUB_SPOKE, MESH, PATTERN = (FOLDER / f"{name}.json" for name in ("hub_spoke", "mesh", "pattern"))
"""Results of two live teams of three on one task, and of a given pattern. A2A turned all their numbers into floats."""


def concord(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    return result.exit_code, result.stderr


@pytest.mark.parametrize("path", [HUB_SPOKE, MESH, PATTERN], ids=lambda path: path.stem)
def test_rows_without_a_basis_are_read_as_resting_on_structure(path: Path) -> None:
    assert "basis" not in json.loads(path.read_text())["results"][0]["detail"]["scoring"]
    [row] = read_rows(path)
    assert (row.detail.scoring.version, row.detail.scoring.basis) == ("1", "structure")
    assert [trial.grading for trial in row.detail.trials] == [None]


def test_the_basis_of_a_score_is_named_for_a_team_and_for_a_pattern() -> None:
    [team], [pattern] = read_rows(MESH), read_rows(PATTERN)
    assert rating_of(team).rests_on == "rates structure, by version 1 of the rules; nobody judged the outcome"
    assert rating_of(pattern).rests_on == "rates the structure of a given pattern, without a live team"


@pytest.mark.parametrize("path", [HUB_SPOKE, MESH, PATTERN], ids=lambda path: path.stem)
def test_a_report_shows_the_score_and_the_weights_of_its_parts(path: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert concord("report", path, "-o", page) == (0, "")
    [row] = read_rows(path)
    parsed = parse_page(page.read_text(encoding="utf-8"))
    assert [each.text for each in parsed.all("span", "score")] == [f"{row.score:.1f}"]
    assert "weight 0.35" in parsed.text
    assert "Judged" not in parsed.text


def test_version_1_rows_can_be_compared_with_each_other(tmp_path: Path) -> None:
    assert concord("compare", HUB_SPOKE, MESH, "-o", tmp_path / "out.json") == (3, "")  # one task cannot tell
    found = Comparison.model_validate_json((tmp_path / "out.json").read_bytes())
    assert (found.scoring_version, found.basis) == ("1", "structure")
    assert [(team.name, round(team.score, 1)) for team in found.teams] == [("hub_spoke", 59.2), ("mesh", 100.0)]
    assert [(pair.shared_tasks, pair.paired_trials) for pair in found.pairs] == [(1, 1)]


def test_comparing_version_1_with_version_3_is_refused(tmp_path: Path) -> None:
    document = {"participants": {}, "results": [mesh_of_five().model_dump(mode="json")]}
    (tmp_path / "new.json").write_text(json.dumps(document))
    code, message = concord("compare", HUB_SPOKE, tmp_path / "new.json")
    assert code == 2
    assert f"{HUB_SPOKE}: version 1 on structure; {tmp_path / 'new.json'}: version 3 on outcome" in message
