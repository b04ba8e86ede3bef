"""docs/scoring.md: its numbers follow from their expressions and equal what the evaluator computes."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest

from concord.assessment import Thresholds
from concord.suite import Fact, neighbours_of
from concord.suite.value import number
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.findings import METRICS_NEEDED, find
from concord_evaluator.graph import build_graph
from concord_evaluator.information.flow import flow_of
from concord_evaluator.information.receipts import credit_of
from concord_evaluator.information.turns import Answered
from concord_evaluator.metrics import measure
from concord_evaluator.scoring import (
    BOTTLENECK_CAP,
    HIGH,
    MEDIUM,
    SCORING_VERSION,
    WEIGHTS,
    Score,
    TeamStructure,
    score_structure,
    structure_of,
)
from concord_evaluator.statistics import Interval, confidence_in, mean_interval, pass_power, rate_interval
from tests.kit.graphs import mesh
from tests.kit.traces import call, projected, reported_by
from tests.kit.trials import judged, outcome, plan
from tests.unit.evaluator.information.tasks import FAMILY, sent, task_of

TEXT = Path("docs/scoring.md").read_text(encoding="utf-8")


def section(start: str, end: str = "\n## ") -> str:
    return TEXT.partition(start)[2].partition(end)[0]


def worked(text: str) -> dict[str, float]:
    """The values of a section's lines `name = expression = value`; asserts that each is the value of its expression."""
    known: dict[str, Any] = {"sqrt": sqrt, "comb": comb, "min": min}
    found: dict[str, float] = {}
    for block in re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            name, expression, worked_out = line.split(" = ")
            value = known[name] = eval(expression, {"__builtins__": {}}, known)  # noqa: S307 - our own document
            assert f"{value:.3f}" == worked_out, line
            found[name] = float(worked_out)
    assert found
    return found


def given(text: str) -> dict[str, Any]:
    [block] = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    loaded: dict[str, Any] = json.loads(block)
    return loaded


CREDITED = ["a fact that did not travel", "a result that its sender could not know", "a hub that answers"]
PATTERNS = ["a star", "an isolated agent", "silence"]


@pytest.mark.parametrize("title", CREDITED)
def test_a_worked_answer_is_credited_as_the_document_works_it_out(title: str) -> None:
    text = section(f"### Worked: {title}\n", "\n##")
    worked_out, example = worked(text), given(text)
    facts = [Fact(name, (seat,), number(value)) for name, (seat, value) in example["facts"].items()]
    seats = [fact.holders[0] for fact in facts]
    total = str(sum(int(fact.value.text) for fact in facts))
    task = task_of(facts, neighbours_of(seats, list(combinations(seats, 2))), ["ann"])
    task = replace(task, key={"ann": total})
    messages = [(each["round"], each["from"], each["to"], each["says"]) for each in example["told"]]
    flow = flow_of(task, FAMILY, sent(*messages), {"ann": total})
    credit = credit_of(task, FAMILY.grade({"ann": total}, task.key), flow, Answered({"ann": example["answered"]}, 9))
    assert credit.outcome == pytest.approx(worked_out["credited"], abs=0.0005)


def patterned(team: Mapping[str, Any]) -> tuple[TeamStructure, Score]:
    """The structure and the score of a worked example's pattern, through the evaluator."""
    reports = [reported_by(each["from"], call(str(number), each["to"])) for number, each in enumerate(team["calls"])]
    graph = build_graph(projected(*reports, agents=team["agents"]))
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    structure = structure_of(graph, find(graph, measure(graph, needed), Thresholds()))
    return structure, score_structure(structure, graph.tally)


@pytest.mark.parametrize("title", PATTERNS)
def test_a_worked_pattern_is_scored_as_the_document_works_it_out(title: str) -> None:
    text = section(f"### Worked: {title}\n", "\n##")
    worked_out, (structure, score) = worked(text), patterned(given(text))
    expected: dict[str, float | None] = {str(part.id): part.value for part in score.parts if part.value is not None}
    expected |= {"overall_score": score.overall, "coordination": structure.coordination_value}
    assert {name: worked_out[name] for name in expected} == pytest.approx(expected, abs=0.0005)
    assert {part for part in WEIGHTS if part in worked_out} == {
        part.id for part in score.parts if part.value is not None
    }
    assert f"The label is `{structure.coordination_quality}`." in text


def test_the_document_names_the_version_and_the_weights() -> None:
    assert f"version `{SCORING_VERSION}`." in TEXT
    table = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", section("## Given patterns\n"), re.MULTILINE)
    assert {part: float(weight) for part, weight in table} == WEIGHTS


def test_the_document_names_the_limits_of_labels_and_the_pass_mark() -> None:
    label = section("## The label\n")
    assert f"most {BOTTLENECK_CAP}." in label
    assert f"`high` from {HIGH}, `medium` from {MEDIUM}, else `low`" in label
    assert f"`thresholds.pass` ({Thresholds().pass_mark})" in TEXT


def test_the_row_follows_from_its_trials_as_worked_out() -> None:
    text = section("## From trials to the row\n")
    worked_out, trials = worked(text), given(text)
    team = mesh(3)
    planned = plan(team[0], trials=len(trials["overall_scores"]))
    verdicts = [
        _with_score(judged(planned, team, outcome(f"trial-{number}", time_used=used)), value)
        for number, (value, used) in enumerate(zip(trials["overall_scores"], trials["seconds"], strict=True), 1)
    ]
    row = make_row(planned, verdicts, [])
    made = {"score": row.score, "pass_rate": row.pass_rate, "time_used": row.time_used}
    assert worked_out == pytest.approx(made | {"score_high": row.detail.scoring.score_high}, abs=0.0005)


def _with_score(verdict: JudgedTrial, value: float | None) -> JudgedTrial:
    passed = None if value is None else value >= Thresholds().pass_mark
    record = verdict.record.model_copy(update={"overall_score": value, "passed": passed})
    return verdict.model_copy(update={"record": record})


def test_the_interval_of_a_pass_rate_is_as_worked_out() -> None:
    worked_out, interval = worked(section("**Pass rate**", "**Score**")), rate_interval(7, 12)
    assert interval is not None
    assert (worked_out["low"], worked_out["high"]) == pytest.approx((interval.low, interval.high), abs=0.0005)


def test_the_interval_of_a_score_is_as_worked_out() -> None:
    text = section("**Score**: Student", "If all\ntasks have")
    scores: dict[str, list[float]] = given(text)["scores"]
    values, tasks = zip(*((value, task) for task, runs in scores.items() for value in runs), strict=True)
    worked_out, interval = worked(text), mean_interval(values, tasks)
    assert interval is not None
    assert (worked_out["low"], worked_out["high"]) == pytest.approx((interval.low, interval.high), abs=0.0005)


def test_the_interval_of_scores_that_do_not_scatter_is_as_worked_out() -> None:
    worked_out, interval = (
        worked(section("If all\ntasks have", "**pass^k**")),
        mean_interval([0.8] * 4, "abcd", scale=(0, 1)),
    )
    assert interval is not None
    assert (worked_out["low"], worked_out["high"]) == pytest.approx((interval.low, interval.high), abs=0.0005)


def test_pass_power_is_as_worked_out() -> None:
    text = section("**pass^k**", "**Confidence**")
    passes: list[list[bool]] = given(text)["passes"]
    assert worked(text) == pytest.approx({f"pass_{k}": pass_power(passes, k) for k in (1, 2, 3)}, abs=0.0005)


def test_the_words_for_confidence_follow_the_documented_table() -> None:
    table = re.findall(r"^\| (\d+) \| (none|[\d.]+) \| `(\w+)` \|$", section("**Confidence**"), re.MULTILINE)
    assert {word for _, _, word in table} == {"insufficient", "low", "adequate"}
    for tasks, width, word in table:
        interval = None if width == "none" else Interval(0.0, float(width), int(tasks), int(tasks), "t")
        assert confidence_in(interval, int(tasks)) == word
