"""Rows of scoring version 2 are read and displayed, compared with their like alone, and not verified by other rules.

A row of a later program, with a key that this one lacks, is refused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from concord.rows import read
from concord_cli.compare.comparison import Comparison
from concord_cli.main import app
from concord_cli.results_file import read_rows
from concord_cli.row_view.score import rating_of
from tests.kit.team_rows import mesh_of_five
from tests.unit.cli.report.pages import parse_page

QUICK = Path(__file__).parent / "version_2/quick.json.gz"
"""The result of the sample team in the tasks of `quick`, as the last program with version 2 of the rules wrote it. Its
bundle stands beside it."""


def concord(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, [*map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def document() -> dict[str, Any]:
    parsed: dict[str, Any] = json.loads(gzip.decompress(QUICK.read_bytes()))
    return parsed


def test_a_row_of_version_2_is_read_without_what_it_cannot_say() -> None:
    [row] = read_rows(QUICK)
    assert (row.detail.scoring.version, row.detail.scoring.basis) == ("2", "outcome")
    assert row.score == pytest.approx(95.238, abs=0.001)
    assert row.detail.scoring.ranking_kind is None
    assert row.detail.verdict is None


def test_its_score_is_named_by_what_it_rested_on() -> None:
    [row] = read_rows(QUICK)
    assert rating_of(row).rests_on == "outcome 1.00 (3 trials by code) x conduct 0.95"


def test_a_report_shows_its_score(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    assert concord("report", QUICK, "-o", page)[0] == 0
    assert [each.text for each in parse_page(page.read_text(encoding="utf-8")).all("span", "score")] == ["95.2"]


def test_a_table_names_its_version() -> None:
    assert [(line["score"], line["scoring_version"]) for line in read([QUICK])] == [(95.23809523809524, "2")]


def test_rows_of_version_2_can_be_compared_with_each_other(tmp_path: Path) -> None:
    other = document()
    other["results"][0]["detail"]["assessment_id"] = "another"
    (tmp_path / "other.json").write_text(json.dumps(other))
    assert concord("compare", QUICK, tmp_path / "other.json", "-o", tmp_path / "out.json")[0] == 3  # equal teams
    found = Comparison.model_validate_json((tmp_path / "out.json").read_bytes())
    assert (found.scoring_version, found.basis) == ("2", "outcome")
    assert [round(team.score, 1) for team in found.teams] == [95.2, 95.2]


@pytest.mark.parametrize("version", ["3", "4"])
def test_comparing_version_2_with_another_is_refused_with_both(version: str, tmp_path: Path) -> None:
    row = mesh_of_five().model_dump(mode="json")
    row["detail"]["scoring"]["version"] = version
    (tmp_path / "new.json").write_text(json.dumps({"participants": {}, "results": [row]}))
    code, _, message = concord("compare", QUICK, tmp_path / "new.json")
    assert code == 2
    assert f"version 2 on outcome; {tmp_path / 'new.json'}: version {version} on outcome" in message


def test_verifying_it_says_first_that_its_rules_were_others(tmp_path: Path) -> None:
    (tmp_path / "quick.json").write_text(json.dumps(document()))
    code, _, message = concord("verify", tmp_path / "quick.json", "--bundle", QUICK.with_name("bundles"))
    assert code == 1
    assert "the row was computed with scoring 2 (here 3)" in message.splitlines()[1]


def test_a_row_with_a_key_of_a_later_program_is_refused_by_that_key(tmp_path: Path) -> None:
    later = document()
    later["results"][0]["detail"]["later"] = 1
    (tmp_path / "later.json").write_text(json.dumps(later))
    code, _, message = concord("report", tmp_path / "later.json", "--text")
    assert code == 2
    assert "not a results file of Concord: results[0].detail.later: unknown key" in message
