"""Recordings with expected answers: `evaluate` judges, `compare` and `gate` pair them by task and decide."""

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest
from typer.testing import CliRunner, Result

from concord_cli.main import app
from tests.kit.recordings import folder_of

QUESTIONS = [f"What is open at {hour}?" for hour in range(8)]
RIGHT = dict.fromkeys(QUESTIONS, "Bergen is open.")
WRONG = dict.fromkeys(QUESTIONS, "Oslo is open.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with expected answers, and recordings of two versions."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "expect.csv").write_text("task,target\n" + "".join(f"{each},Bergen\n" for each in QUESTIONS))
    folder_of(tmp_path / "right", RIGHT)
    folder_of(tmp_path / "wrong", WRONG)
    return tmp_path


def concord(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def compared(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(concord("compare", *words, "--json").stdout)
    return found


def test_evaluate_judges_by_expected_answers(folder: Path) -> None:
    result = concord("evaluate", "wrong", "--expect", "expect.csv", "-o", "rows.jsonl")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "Outcomes: 8 by includes" in result.stdout
    rows = [json.loads(line) for line in (folder / "rows.jsonl").read_text().splitlines()]
    assert [row["score"] for row in rows] == [0.0] * 8
    assert rows[0]["detail"]["trials"][0]["grading"]["source"] == "code"


def test_evaluate_tells_which_expected_answers_have_no_trace(folder: Path) -> None:
    (folder / "expect.csv").write_text("task,target\nWho?,me\n")
    result = concord("evaluate", "right", "--expect", "expect.csv")
    assert "expect.csv: no trace for 1 expected answer: Who?" in result.stderr
    assert "Outcomes" not in result.stdout


@pytest.mark.parametrize(("content", "said"), [("task\na\n", "expect.csv:2: "), ("", "expect.csv:1: ")])
def test_a_file_that_expects_nothing_is_refused_with_its_line(folder: Path, content: str, said: str) -> None:
    (folder / "expect.csv").write_text(content)
    result = concord("evaluate", "right", "--expect", "expect.csv")
    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.usefixtures("folder")
def test_two_folders_are_compared_task_by_task() -> None:
    result = concord("compare", "right", "wrong", "--expect", "expect.csv")
    assert result.exit_code == 5
    assert "right is better" in result.stdout
    [pair] = compared("right", "wrong", "--expect", "expect.csv")["pairs"]
    assert (pair["difference"], pair["paired_trials"], pair["verdict"]) == (-100.0, 8, "worse")


def test_a_results_file_a_file_of_traces_and_a_folder_compare_alike(folder: Path) -> None:
    concord("evaluate", "right", "--expect", "expect.csv", "-o", "right.json")
    lines = [each.read_text() for each in sorted((folder / "right").iterdir())]
    (folder / "traces.jsonl").write_text("\n".join(lines))
    for old in ("right", "right.json", "traces.jsonl"):
        [pair] = compared(old, "wrong", "--expect", "expect.csv")["pairs"]
        assert (pair["difference"], pair["paired_trials"]) == (-100.0, 8)


def test_the_id_of_a_task_pairs_recordings_with_different_texts(folder: Path) -> None:
    for name, question in (("one", "Which?"), ("other", "Which one?")):
        folder_of(folder / name, {question: "Bergen"}, concord__task_id="q-7", concord__target="Bergen")
    [pair] = compared("one", "other")["pairs"]
    assert pair["paired_trials"] == 1


def test_recordings_with_one_text_are_in_no_pair_and_counted(folder: Path) -> None:
    document = json.loads((folder / "right" / "0.json").read_text())
    for span in document["resourceSpans"][0]["scopeSpans"][0]["spans"]:
        span["traceId"] = "ab" * 16
    (folder / "right" / "9.json").write_text(json.dumps(document))
    found = compared("right", "wrong", "--expect", "expect.csv")
    assert found["pairs"][0]["paired_trials"] == 7
    alike = "2 because several have the same task text and no `concord.task_id`"
    assert f"right: 2 traces in no pair, {alike}." in found["warnings"]


@pytest.mark.usefixtures("folder")
def test_recordings_that_nobody_judged_ask_for_expected_answers() -> None:
    result = concord("compare", "right", "wrong")
    assert result.exit_code == 1
    assert "--expect FILE gives the expected answers" in result.stderr


@pytest.mark.usefixtures("folder")
def test_expected_answers_of_results_files_are_refused() -> None:
    for name in ("right", "wrong"):
        concord("evaluate", name, "--expect", "expect.csv", "-o", f"{name}.json")
    result = concord("compare", "right.json", "wrong.json", "--expect", "expect.csv")
    assert result.exit_code == 2
    assert "--expect has answers of recordings" in result.stderr


@pytest.mark.parametrize(
    ("new", "options", "verdict", "code"),
    [
        ("wrong", [], "worse", 5),
        ("right", ["--margin", "50"], "not worse", 0),
        ("right", [], "no difference shown", 3),
        ("half", ["--margin", "99", "--fail-under", "80"], "below the least score", 5),
    ],
)
def test_gate_decides_on_folders_of_recordings(
    folder: Path, new: str, options: list[str], verdict: str, code: int
) -> None:
    folder_of(folder / "old", RIGHT)
    folder_of(
        folder / "half",
        {each: answers[each] for each, answers in zip(QUESTIONS, [RIGHT, RIGHT, RIGHT, WRONG] * 2, strict=True)},
    )
    words = [
        "gate",
        new,
        "--baseline",
        "old",
        "--expect",
        "expect.csv",
        "-o",
        "out/verdict.json",
        "--junit",
        "out/check.xml",
    ]
    assert concord(*words, *options).exit_code == code
    assert json.loads((folder / "out" / "verdict.json").read_text())["verdict"] == verdict
    suite = Xml.parse(folder / "out" / "check.xml").getroot()  # noqa: S314 - our own
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == (
        "9",
        str(int(code == 5)),
        str(int(code == 3)),
    )


def test_expected_answers_go_with_recordings_only(folder: Path) -> None:
    (folder / "team.toml").write_text("")
    result = concord("gate", "team.toml", "--baseline", "right", "--expect", "expect.csv")
    assert result.exit_code == 2
    assert "a scenario is played" in result.stderr
    assert concord("evaluate", "right", "--rejudge", "--rules", "--expect", "expect.csv").exit_code == 2


def test_a_judge_that_cannot_tell_leaves_the_outcome_to_what_the_trace_declares(folder: Path) -> None:
    folder_of(folder / "told", {"Which?": "Bergen"}, concord__target="Oslo")
    assert concord("evaluate", "told", "--rejudge", "--rules", "-o", "told.jsonl").exit_code == 0
    row = json.loads((folder / "told.jsonl").read_text())
    assert (row["score"], row["detail"]["trials"][0]["grading"]["source"]) == (0.0, "recorded")
