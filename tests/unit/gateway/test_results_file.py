"""The file `results.json`: complete at every moment, and one copy per assessment."""

import json
from pathlib import Path

import pytest

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode
from concord.wire.roster import RosterEntry
from concord_gateway.handler import write_results
from tests.kit.rows import make_row


def plan(assessment_id: str) -> AssessmentPlan:
    roster = [RosterEntry(id="a", url="http://a", agentbeats_id="uuid-a"), RosterEntry(id="b", url="http://b")]
    return AssessmentPlan(
        assessment_id=assessment_id, mode=Mode.LIVE, config=AssessmentConfig(), tasks=[], roster=roster, trials=[]
    )


def test_the_file_has_the_form_of_the_platforms_client(tmp_path: Path) -> None:
    path = write_results(tmp_path / "new" / "folder", plan("a1"), make_row().model_dump(mode="json"), keep=10)
    document = json.loads(path.read_text())
    assert document["participants"] == {"a": "uuid-a"}
    assert [row["domain"] for row in document["results"]] == ["graph-assessment"]


def test_the_latest_assessment_replaces_the_file_and_each_keeps_its_own(tmp_path: Path) -> None:
    write_results(tmp_path, plan("a1"), make_row(time_used=1).model_dump(mode="json"), keep=10)
    write_results(tmp_path, plan("a2"), make_row(time_used=2).model_dump(mode="json"), keep=10)
    used = {
        path.name: json.loads(path.read_text())["results"][0]["time_used"]
        for path in [tmp_path / "results.json", *(tmp_path / "assessments").iterdir()]
    }
    assert used == {"results.json": 2, "a1.json": 1, "a2.json": 2}


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_results(tmp_path, plan("a1"), make_row(time_used=1).model_dump(mode="json"), keep=10)

    def refuse(*_: object) -> None:
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="disk full"):
        write_results(tmp_path, plan("a2"), make_row(time_used=2).model_dump(mode="json"), keep=10)
    assert json.loads((tmp_path / "results.json").read_text())["results"][0]["time_used"] == 1
    assert [path.name for path in tmp_path.rglob(".*")] == []
