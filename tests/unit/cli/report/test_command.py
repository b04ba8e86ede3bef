"""`concord report`: from a results file to a page; an invalid file ends it with exit code 2 and one line."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli.main import app
from tests.kit.team_rows import mesh_of_five, star_of_five


def concord(*arguments: str | Path) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["report", *map(str, arguments)])
    return result.exit_code, result.stdout, result.stderr


def with_assessment_id(row: ResultRow, assessment_id: str) -> ResultRow:
    return row.model_copy(update={"detail": row.detail.model_copy(update={"assessment_id": assessment_id})})


def results(path: Path, *rows: ResultRow) -> Path:
    if path.suffix == ".jsonl":
        path.write_text("".join(row.model_dump_json() + "\n" for row in rows))
    else:
        path.write_text(ResultsDocument(participants={}, results=list(rows)).model_dump_json())
    return path


def test_the_page_is_written_beside_the_results_and_its_path_is_printed(tmp_path: Path) -> None:
    code, printed, _ = concord(results(tmp_path / "results.json", mesh_of_five()))

    assert (code, printed) == (0, f"The report is in {tmp_path / 'results.html'}\n")
    assert (tmp_path / "results.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_output_option_sets_the_path_of_the_page(tmp_path: Path) -> None:
    page = tmp_path / "new" / "page.html"

    assert concord(results(tmp_path / "results.json", mesh_of_five()), "-o", page)[0] == 0
    assert page.exists()


def test_the_trial_option_limits_the_page_to_one_trial(tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    assert concord(results(tmp_path / "results.json", star_of_five()), "-o", page, "--trial", "trial-3")[0] == 0
    assert '<p class="outcome outcome-failed">Failed</p>' in page.read_text(encoding="utf-8")


def test_the_assessment_option_chooses_one_of_several_rows(tmp_path: Path) -> None:
    path = results(
        tmp_path / "rows.jsonl",
        with_assessment_id(mesh_of_five(), "first"),
        with_assessment_id(star_of_five(), "second"),
    )

    assert concord(path, "--assessment", "second")[0] == 0
    assert "bottleneck" in (tmp_path / "rows.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--assessment", "third"], "the file has no assessment 'third', only: first, second"),
        (["--assessment", "first", "--trial", "x"], "the result has no trial 'x', only: trial-1"),
    ],
)
def test_an_unknown_assessment_or_trial_exits_with_2_and_lists_the_known_ones(
    arguments: list[str], reason: str, tmp_path: Path
) -> None:
    rows = with_assessment_id(mesh_of_five(), "first"), with_assessment_id(star_of_five(), "second")
    code, _, printed = concord(results(tmp_path / "rows.json", *rows), *arguments)

    assert code == 2
    assert reason in printed
    assert not (tmp_path / "rows.html").exists()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("no json", "not a results file of Concord: Invalid JSON"),
        ('{"participants": {}, "results": []}', "the file contains no result"),
        ('{"participants": {}, "results": [{"score": 1}]}', "not a results file of Concord: results[0].pass_rate"),
        ("[]", "not a results file of Concord"),
    ],
)
def test_an_invalid_results_file_exits_with_2_and_one_line(text: str, reason: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    code, _, printed = concord(path)

    assert code == 2
    assert printed.startswith(f"concord: {path}: {reason}")
    assert len(printed.splitlines()) == 1


def test_a_missing_file_exits_with_2(tmp_path: Path) -> None:
    missing = tmp_path / "nothing.json"

    assert concord(missing) == (2, "", f"concord: {missing}: No such file or directory\n")


def test_an_existing_page_stays_if_the_new_one_cannot_be_made(tmp_path: Path) -> None:
    path = results(tmp_path / "results.json", mesh_of_five())
    concord(path)
    before = (tmp_path / "results.html").read_bytes()
    path.write_text("{}")

    assert concord(path)[0] == 2
    assert (tmp_path / "results.html").read_bytes() == before


def test_json_has_the_outcome_of_the_row_and_of_a_trial_in_the_words_of_the_page(tmp_path: Path) -> None:
    path = results(tmp_path / "results.json", star_of_five())
    code, row, _ = concord(path, "--json")
    _, trial, _ = concord(path, "--json", "--trial", "trial-2")
    assert (code, json.loads(row)["verdict"], json.loads(trial)["verdict"]) == (0, "Failed", "Passed")
    assert concord(path, "--json", "--trial", "x")[0] == 2
    assert concord(path, "--json", "--text")[0] == 2
