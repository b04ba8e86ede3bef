"""`concord.rows.read`: records of results files, for pandas, Polars and PyArrow; and the notebook that plots them."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from concord import rows
from concord.assessment.result_row import ResultRow, ResultsDocument
from tests.kit import team_rows, team_task_rows

EXAMPLES = Path(__file__).parents[3] / "examples"
TABLES: tuple[rows.Records, ...] = ("rows", "trials", "calls", "messages")


def written(folder: Path, name: str, *given: ResultRow) -> Path:
    path = folder / name
    lines = "".join(f"{row.model_dump_json()}\n" for row in given).encode()
    document = ResultsDocument(participants={}, results=list(given)).model_dump_json().encode()
    path.write_bytes(gzip.compress(lines) if name.endswith(".gz") else lines if name.endswith("l") else document)
    return path


@pytest.mark.parametrize("of", TABLES)
@pytest.mark.parametrize("name", ["results.json", "rows.jsonl", "rows.jsonl.gz"])
def test_read_gives_the_records_of_the_table_whatever_the_form(tmp_path: Path, name: str, of: rows.Records) -> None:
    given = [team_rows.mesh_of_five(), team_rows.recorded()]
    path = written(tmp_path, name, *given)
    assert rows.read([path], of) == list(rows.lines_of(given, of))
    assert rows.read([str(path)], of) == rows.read([path], of)


def test_several_files_follow_each_other(tmp_path: Path) -> None:
    one, other = team_rows.mesh_of_five(), team_task_rows.withholding_team()
    paths = [written(tmp_path, "one.json", one), written(tmp_path, "other.json", other)]
    assert [each["assessment"] for each in rows.read(paths)] == [each.detail.assessment_id for each in (one, other)]


def test_records_make_an_arrow_table(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow")
    records = rows.read([written(tmp_path, "results.json", team_rows.mesh_of_five())], "trials")
    assert arrow.Table.from_pylist(records).to_pylist() == records


def test_what_is_no_results_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(ValueError, match=r"results|dictionary|object"):
        rows.read([tmp_path / "other.json"])
    with pytest.raises(OSError, match="No such file"):
        rows.read([tmp_path / "missing.json"])


def cells(notebook: Path) -> list[str]:
    document = json.loads(notebook.read_text(encoding="utf-8"))
    code = [each for each in document["cells"] if each["cell_type"] == "code"]
    assert [each["outputs"] for each in code] == [[]] * len(code)
    return ["".join(each["source"]) for each in code]


def test_the_notebook_computes_the_interval_of_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    row = team_task_rows.withholding_team()
    written(tmp_path, "team.jsonl", row)
    *computed, plot = cells(EXAMPLES / "decision" / "runs.ipynb")
    names: dict[str, Any] = {}
    for each in computed:
        exec(each, names)  # noqa: S102 - the notebook's own code
    scores = [100 * trial.overall_score for trial in row.detail.trials if trial.overall_score is not None]
    found = names["runs"]
    assert sum(len(each) for each in names["groups"].values()) == len(scores)
    assert all(0 <= mean <= 100 and half >= 0 for mean, half in found.values())
    compile(plot, "plot", "exec")
