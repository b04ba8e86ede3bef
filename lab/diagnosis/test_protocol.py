"""The protocol of diagnosis: the rules are the frozen ones, and its measures are right on a corpus known by hand."""

import json
from pathlib import Path

import pytest

from lab.diagnosis.frozen import FILE, digest_of_rules
from lab.diagnosis.labels import labels_in
from lab.diagnosis.measures import (
    against_labels,
    against_outcomes,
    area_under_curve,
    cases_in,
    changed_by_renaming,
)
from tests.kit.failed_runs import COOPERBENCH_FILES, GRADES, MINE, YOURS

ROOT = Path(__file__).parents[2]


def test_the_rules_are_the_frozen_ones() -> None:
    """After a change of the rules, measure the development sets, then `python -m lab.diagnosis --freeze`."""
    assert digest_of_rules() == FILE.read_text(encoding="utf-8").strip()
    assert f"`{digest_of_rules()}`" in (ROOT / "docs" / "diagnosis.md").read_text(encoding="utf-8")


def test_the_area_under_the_curve_counts_ties_half() -> None:
    assert area_under_curve([True], [False]) == 1
    assert area_under_curve([True, False], [True, False]) == 0.5
    assert area_under_curve([False], [True]) == 0


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """A failure whose edits clash, and a success with equal work."""
    patches = {"agent1.patch": MINE, "agent2.patch": YOURS}
    won = {**COOPERBENCH_FILES, "agent1.patch": MINE, "agent2.patch": MINE}
    for name, files in {"lost": {**COOPERBENCH_FILES, **patches, "eval.json": GRADES}, "won": won}.items():
        (tmp_path / name).mkdir()
        for file, content in files.items():
            (tmp_path / name / file).write_text(content if isinstance(content, str) else json.dumps(content))
    return tmp_path


def test_a_corpus_with_outcomes_is_measured_against_them(teams: Path) -> None:
    cases = cases_in(teams)
    assert dict(against_outcomes(cases)) == {
        "failures, successes": "1, 1",
        "observed: clashing_edits": "1.000 / 0.000",
        "observed: same_work_twice": "0.000 / 1.000",
        "observed: clashing_edits or delivered_nothing": "1.000 / 0.000",
        "AUC of that (random .500)": "1.000",
        "the same within equal tasks": "1.000",
        "merges whose conflicts touching edits foretell": "1 of 1",
        "failures with a cause, proven": "1.000",
        "failures with a cause, observed": "0.000",
        "successes accused by a cause (goal ≤ .050)": "0.000",
    }
    assert changed_by_renaming(cases) == 0


def test_a_labelled_corpus_is_measured_beside_the_baselines(tmp_path: Path) -> None:
    task = "How many people live in the county of Lane, in all its towns together?"
    said = [
        ("Lead", task),
        ("Counter", "The census has 382067 inhabitants, mostly around Eugene."),
        ("Checker", "Thanks!"),
    ]
    run = {
        "question": task,
        "question_ID": "q",
        "is_correct": False,
        "history": [{"name": name, "content": text, "role": "user"} for name, text in said],
        "mistake_agent": "Counter",
        "mistake_step": "1",
        "mistake_reason": "",
    }
    (tmp_path / "1.json").write_text(json.dumps(run))
    measured = dict(against_labels(cases_in(tmp_path), list(labels_in(tmp_path))))
    assert measured == {
        "labelled traces": "1",
        "labelled step, random order": "1.00 steps before it; first 0.333, among three 1.000",
        "labelled step, order of time": "1.00 steps before it; first 0.000, among three 1.000",
        "labelled step, reading order": "0.00 steps before it; first 1.000, among three 1.000",
        "labelled agent, random": "0.333",
        "labelled agent, first but lead": "1.000",
        "labelled agent, last but lead": "0.000",
        "labelled agent, most characters": "0.000",
        "labelled agent, that of the first step to read": "1.000",
    }
