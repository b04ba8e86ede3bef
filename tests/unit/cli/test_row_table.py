"""`concord rows`: a line for each row, trial, call or message, in files that other tools read."""

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.recorded_work import RecordedWork, SaidStep
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.rows import lines_of
from concord_cli.main import app
from tests.kit import team_rows, team_task_rows


def written(folder: Path, *rows: ResultRow) -> str:
    path = folder / "results.json"
    path.write_text(ResultsDocument(participants={}, results=list(rows)).model_dump_json())
    return str(path)


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, ["rows", *words])
    assert result.exit_code == 0, result.stderr
    return result.stdout


def test_csv_has_a_line_for_each_trial_with_its_task_and_score(tmp_path: Path) -> None:
    row = team_task_rows.withholding_team()
    lines = list(csv.DictReader(io.StringIO(printed(written(tmp_path, row), "--of", "trials"))))
    assert [each["trial"] for each in lines] == [trial.trial_id for trial in row.detail.trials]
    assert [float(each["score"]) for each in lines] == [trial.overall_score for trial in row.detail.trials]
    assert {each["task"] for each in lines} == {trial.task_id for trial in row.detail.trials}


def with_messages(row: ResultRow) -> ResultRow:
    said = SaidStep(
        step_id="1", kind="call", agent="a", name="b", start_ms=0, duration_ms=2, tokens=None, input="How many?",
        output="Seven.", error=None,
    )  # fmt: skip
    work = RecordedWork(
        task="Count.", said=[said], said_omitted=0, shortened=False, uses=[], failures=[], failures_omitted=0, failed=0
    )
    trials = [trial.model_copy(update={"work": work}) for trial in row.detail.trials]
    return row.model_copy(update={"detail": row.detail.model_copy(update={"trials": trials})})


@pytest.mark.parametrize("of", ["rows", "trials", "calls", "messages"])
def test_all_lines_of_a_table_have_the_same_columns_and_plain_values(of: str) -> None:
    rows = [team_rows.mesh_of_five(), team_rows.recorded(), with_messages(team_task_rows.team_by_calls())]
    lines = list(lines_of(rows, of))
    assert lines
    assert len({tuple(line) for line in lines}) == 1
    assert {type(cell) for line in lines for cell in line.values()} <= {str, int, float, bool, type(None)}


def test_the_name_of_the_file_says_its_form(tmp_path: Path) -> None:
    results = written(tmp_path, team_rows.mesh_of_five())
    for name in ("table.csv", "table.json", "table.jsonl"):
        assert printed(results, "-o", str(tmp_path / name)) == ""
    [line] = json.loads((tmp_path / "table.json").read_text())
    assert json.loads((tmp_path / "table.jsonl").read_text()) == line
    assert json.loads(printed(results, "--json")) == line
    [read] = csv.DictReader(io.StringIO((tmp_path / "table.csv").read_text()))
    assert read["assessment"] == line["assessment"]
    wrong = CliRunner().invoke(app, ["rows", results, "-o", str(tmp_path / "table.xls")])
    assert (wrong.exit_code, len(wrong.stderr.splitlines())) == (2, 1)


def test_parquet_has_the_same_lines(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    results, file = written(tmp_path, team_rows.mesh_of_five()), tmp_path / "calls.parquet"
    printed(results, "--of", "calls", "-o", str(file))
    assert parquet.read_table(file).to_pylist() == list(lines_of([team_rows.mesh_of_five()], "calls"))


def test_a_text_of_an_agent_is_no_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    row = team_rows.mesh_of_five()
    trials = [each.model_copy(update={"answer": '=HYPERLINK("http://evil.example")'}) for each in row.detail.trials]
    hostile = row.model_copy(update={"detail": row.detail.model_copy(update={"trials": trials})})
    for line in csv.DictReader(io.StringIO(printed(written(tmp_path, hostile), "--of", "trials"))):
        assert line["answer"].startswith("'=")
