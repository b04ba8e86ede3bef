"""The index of a folder of results: its runs by date, its data for comparisons, and hostile names in all of it."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli.main import app
from tests.kit.rows import ONE_TRIAL
from tests.kit.team_rows import mesh_of_five, star_of_five
from tests.kit.team_task_rows import clean_team, withholding_team
from tests.unit.cli.report.pages import ParsedPage, parse_page

HOSTILE = "</script><script>document.title='owned'</script><img src=x onerror=alert(1)>\u202e"


def write(folder: Path, name: str, row: ResultRow, day: int | None = None, **changes: object) -> None:
    started = None if day is None else datetime(2026, 9, day, 12, tzinfo=UTC)
    detail = row.detail.model_copy(update={"assessment_id": name, "started_at": started, **changes})
    document = ResultsDocument(participants={}, results=[row.model_copy(update={"detail": detail})])
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(document.model_dump_json(indent=2), encoding="utf-8")


def index_of(folder: Path) -> tuple[ParsedPage, str]:
    result = CliRunner().invoke(app, ["report", "--index", str(folder)])
    assert result.exit_code == 0, result.output
    return parse_page((folder / "index.html").read_text(encoding="utf-8")), result.stderr


def data_of(page: ParsedPage) -> list[dict[str, object]]:
    [data] = [each for each in page.all("script") if each.attributes.get("id") == "data"]
    read: list[dict[str, object]] = json.loads(data.text)
    return read


def names(page: ParsedPage) -> list[object]:
    return [each["name"] for each in data_of(page)]


def test_runs_are_listed_by_date_with_the_latest_first_and_undated_ones_last(tmp_path: Path) -> None:
    write(tmp_path, "old.json", mesh_of_five())
    write(tmp_path, "first.json", mesh_of_five(), day=1)
    write(tmp_path, "second.json", star_of_five(), day=2)
    page, _ = index_of(tmp_path)

    assert names(page) == ["second.json", "first.json", "old.json"]
    in_cells = [place + 1 for place, each in enumerate(page.elements) if "date" in each.classes]
    assert [page.elements[place].text for place in in_cells] == [
        "2 Sep 2026, 12:00 UTC",
        "1 Sep 2026, 12:00 UTC",
        "undated",
    ]


def test_a_run_has_its_score_and_the_interval_as_a_bar(tmp_path: Path) -> None:
    wide = ONE_TRIAL.model_copy(update={"score_low": 40.0, "score_high": 90.0})
    write(tmp_path, "a.json", mesh_of_five(), statistics=wide)
    page, _ = index_of(tmp_path)
    [interval] = page.all("rect", "interval")

    assert (interval.attributes["x"], interval.attributes["width"]) == ("40%", "50%")
    assert "40 to 90" in page.text


def test_two_runs_can_be_compared_by_their_figures_tasks_and_causes(tmp_path: Path) -> None:
    write(tmp_path, "before.json", withholding_team(), day=1)
    write(tmp_path, "after.json", clean_team(), day=2)
    after, before = data_of(index_of(tmp_path)[0])

    assert before["causes"] == ["agent/2 told nobody"]
    assert after["causes"] == []
    assert (before["tasks"], after["tasks"]) == ({"review": 0.0}, {"review": 1.0})
    assert before["kind"] == after["kind"]


def test_a_copy_of_a_result_is_listed_once_and_other_files_are_not(tmp_path: Path) -> None:
    write(tmp_path, "results.json", mesh_of_five(), day=1, assessment_id="a1")
    (tmp_path / "assessments").mkdir()
    (tmp_path / "assessments" / "a1.json").write_bytes((tmp_path / "results.json").read_bytes())
    (tmp_path / "notes.json").write_text('{"a": 1}')
    (tmp_path / "notes.txt").write_text("hello")

    assert names(index_of(tmp_path)[0]) == ["results.json"]


def test_a_broken_results_file_is_named_and_left_out(tmp_path: Path) -> None:
    write(tmp_path, "good.json", mesh_of_five())
    (tmp_path / "bad.json").write_text('{"participants": {}, "results": [{"score": "high"}]}')
    page, errors = index_of(tmp_path)

    assert names(page) == ["good.json"]
    assert "bad.json: not a results file of Concord" in page.text
    assert "left out: " in errors


def test_rows_of_one_file_are_runs_of_their_own(tmp_path: Path) -> None:
    rows = [
        row.model_copy(update={"detail": row.detail.model_copy(update={"assessment_id": name})})
        for row, name in ((mesh_of_five(), "trip"), (mesh_of_five(), "tour"))
    ]
    (tmp_path / "rows.jsonl").write_text("".join(f"{row.model_dump_json()}\n" for row in rows))

    assert sorted(map(str, names(index_of(tmp_path)[0]))) == ["rows.jsonl: tour", "rows.jsonl: trip"]


def test_a_run_links_to_its_report_if_there_is_one(tmp_path: Path) -> None:
    write(tmp_path, "inner/with report.json", mesh_of_five(), day=2)
    write(tmp_path, "without.json", mesh_of_five(), day=1)
    (tmp_path / "inner" / "with report.html").write_text("<p>")

    assert index_of(tmp_path)[0].values("href") == ["inner/with%20report.html"]


def test_hostile_names_and_texts_stay_text(tmp_path: Path) -> None:
    row = withholding_team()
    trials = [trial.model_copy(update={"task_id": HOSTILE}) for trial in row.detail.trials]
    agents = [agent.model_copy(update={"id": HOSTILE}) for agent in mesh_of_five().detail.agents]
    write(tmp_path, "<img src=x onerror=alert(1)>.json", row, day=1, trials=trials, agents=agents)
    page, _ = index_of(tmp_path)

    assert page.unclosed == []
    assert len(page.all("script")) == 2
    assert page.all("img") == []
    assert "\u202e" not in page.text
    assert list(data_of(page)[0]["tasks"]) == [HOSTILE.replace("\u202e", "\N{REPLACEMENT CHARACTER}")]  # type: ignore[call-overload]


def test_the_page_loads_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a.json", mesh_of_five())
    page, _ = index_of(tmp_path)

    assert not {name for each in page.elements for name in each.attributes} & {"src", "style", "action", "srcset"}
    assert "link" not in {each.tag for each in page.elements}


@pytest.mark.parametrize("content", [None, "no results here"])
def test_a_folder_without_results_is_refused(content: str | None, tmp_path: Path) -> None:
    folder = tmp_path / "output"
    if content is not None:
        folder.mkdir()
        (folder / "notes.txt").write_text(content)
    result = CliRunner().invoke(app, ["report", "--index", str(folder)])

    assert result.exit_code == 2
    assert str(folder) in result.stderr
