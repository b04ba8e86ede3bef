"""The results file: client and gateway write the same bytes, whole or not at all."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import JsonValue

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment import AssessmentConfig, AssessmentPlan
from concord.assessment.result_row import ResultRow, ResultsDocument
from concord.wire.roster import RosterEntry
from concord_cli.assessment_client import assess
from concord_cli.errors import UsageError
from concord_cli.output_files import prepare_folder
from concord_cli.results_file import rows_in, write_results
from concord_gateway.evaluation import MadeRow
from concord_gateway.handler import write_results as write_at_the_gateway
from tests.kit.serving import served_agent
from tests.kit.team_rows import (
    all_with_all,
    ground_truth,
    half_judged,
    mesh_of_five,
    recorded,
    troubled_six,
    unjudged_and_unseen,
)
from tests.kit.team_task_rows import withholding_team

IDS = {"coordinator": "0197-c", "writer": "0197-w"}


async def over_a2a(row: ResultRow) -> list[JsonValue]:
    """A green agent's row as a client receives it over A2A."""

    async def complete(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(data=row.model_dump(mode="json"), artifact_name="result")

    async with served_agent(complete, "green") as url:
        return await assess(url, {}, {}, lambda _: None)


def at_the_gateway(folder: Path, row: ResultRow) -> Path:
    """The file that the gateway writes for a row that it reads back from storage."""
    plan = AssessmentPlan(
        assessment_id="a",
        mode=row.detail.mode,
        config=AssessmentConfig(),
        tasks=[],
        roster=[RosterEntry(id=role, url="http://a", agentbeats_id=known) for role, known in IDS.items()],
        trials=[],
    )
    return write_at_the_gateway(folder, plan, MadeRow.read(row.model_dump_json()).document, keep=1)


@pytest.mark.parametrize("team", [mesh_of_five, troubled_six, ground_truth, half_judged, unjudged_and_unseen, recorded])
async def test_client_and_gateway_write_the_same_bytes(team: Callable[[], ResultRow], tmp_path: Path) -> None:
    row = team()
    client = tmp_path / "client.json"
    write_results(client, IDS, await over_a2a(row))

    assert client.read_bytes() == at_the_gateway(tmp_path / "gateway", row).read_bytes()


async def test_a_rows_keys_keep_the_order_of_its_model_and_counts_stay_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_results(path, {}, await over_a2a(mesh_of_five()))
    written = json.loads(path.read_text(), object_pairs_hook=list)
    row = dict(dict(written)["results"][0])
    detail = dict(row["detail"])

    assert list(row) == list(ResultRow.model_fields)
    assert str(dict(detail["scoring"])["usable_trials"]) == "1"
    assert str(dict(detail["trials"][0])["seed"]) == "41"


def test_a_concord_row_is_written_in_model_order_and_a_foreign_result_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    ours = mesh_of_five().model_dump(mode="json")
    reordered: JsonValue = dict(sorted(ours.items()))
    write_results(path, {}, [reordered, {"b": 1, "a": "\ud800"}])
    first, second = json.loads(path.read_text())["results"]

    assert list(first) == list(ResultRow.model_fields)
    assert list(second.items()) == [("b", 1), ("a", "\ud800")]


def test_an_existing_file_is_replaced(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    write_results(path, {"agent": "0197-a"}, [{"score": 1}])

    assert json.loads(path.read_text()) == {"participants": {"agent": "0197-a"}, "results": [{"score": 1}]}
    assert list(tmp_path.iterdir()) == [path]


def test_a_result_that_cannot_be_written_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("old")
    with pytest.raises(TypeError):
        write_results(path, {}, [object()])  # type: ignore[list-item]

    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    prepare_folder(tmp_path / "a" / "b" / "results.json")

    assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("place", [".", "file/results.json"])
def test_a_path_that_cannot_be_a_file_is_refused(place: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be"):
        prepare_folder(tmp_path / place)


@pytest.mark.parametrize("form", [".json", ".jsonl"])
@pytest.mark.parametrize("team", [lambda: all_with_all(30), withholding_team, mesh_of_five, unjudged_and_unseen])
def test_without_its_tables_a_row_is_read_as_it_is_but_for_them(
    team: Callable[[], ResultRow], form: str, tmp_path: Path
) -> None:
    row, path = team(), tmp_path / f"rows{form}"
    document = ResultsDocument(participants={}, results=[row]) if form == ".json" else row
    path.write_text(document.model_dump_json() + "\n", encoding="utf-8")

    [read] = rows_in(path, tables=False)

    whole = row.model_dump()
    whole["detail"]["metrics"] = []
    for trial in whole["detail"]["trials"]:
        trial |= {"metrics": [], "interactions": [], "calls": []}
        trial["team_task"] = trial["team_task"] and trial["team_task"] | {"flow": None}
    assert read.model_dump() == whole
    assert list(rows_in(path)) == [row]


@pytest.mark.parametrize(
    "wrong",
    [
        '{"detail": 7}',
        '{"detail": {"trials": {"metrics": 1}}}',
        "[]",
        "7",
        '{"metrics": []}',
        '{"metrics": [}',
        '{"score": NaN}',
        '{"metrics": ' + "[" * 100_000,
    ],
)
def test_what_is_no_row_is_none_without_tables_either(wrong: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(wrong)
    for tables in (True, False):
        with pytest.raises(UsageError, match="not a results file of Concord"):
            list(rows_in(path, tables=tables))
