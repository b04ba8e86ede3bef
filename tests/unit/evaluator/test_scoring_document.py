"""`docs/scoring.md`: every number in it is what it says it is computed from, and what the evaluator computes."""

import json
import re
from collections.abc import Mapping, Sequence
from math import comb, sqrt
from pathlib import Path
from typing import Any

import pytest

from concord.assessment import Thresholds
from concord.identity import GREEN_AGENT
from concord_evaluator.aggregate import make_row
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.findings import METRICS_NEEDED, find
from concord_evaluator.graph import build_graph, tally_calls
from concord_evaluator.metrics import measure
from concord_evaluator.scoring import (
    BOTTLENECK_CAP,
    HIGH,
    MEDIUM,
    SCORING_VERSION,
    WEIGHTS,
    Score,
    TeamStructure,
    score,
    structure_of,
)
from concord_evaluator.statistics import Interval, confidence_in, mean_interval, pass_power, rate_interval
from tests.unit.evaluator.graphs import mesh
from tests.unit.evaluator.traces import call, observed, projected, told
from tests.unit.evaluator.trials import judged, outcome, plan

TEXT = Path("docs/scoring.md").read_text(encoding="utf-8")
TEAMS = ["a star that repeats itself", "one who is left out", "silence", "two agents"]


def section(start: str, end: str = "\n## ") -> str:
    return TEXT.partition(start)[2].partition(end)[0]


def worked(text: str) -> dict[str, float]:
    """The values of a section's lines `name = expression = value`, each of which must be what its expression is."""
    known: dict[str, Any] = {"sqrt": sqrt, "comb": comb, "min": min}
    found: dict[str, float] = {}
    for block in re.findall(r"^```text\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            name, expression, told = line.split(" = ")
            value = known[name] = eval(expression, {"__builtins__": {}}, known)  # noqa: S307 - our own document
            assert f"{value:.3f}" == told, line
            found[name] = float(told)
    assert found
    return found


def given(text: str) -> dict[str, Any]:
    [block] = re.findall(r"^```json\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    loaded: dict[str, Any] = json.loads(block)
    return loaded


def scored(team: Mapping[str, Any]) -> tuple[TeamStructure, Score]:
    """The team of a worked example, through the evaluator."""
    reports = []
    for number, each in enumerate(team["calls"]):
        attributes = {"retry_of": str(each["retries"])} if "retries" in each else {}
        error = "no answer" if each.get("fails") else None
        step = call(str(number), each["to"], request=each["asks"], attributes=attributes, error=error)
        reports.append(observed(GREEN_AGENT, step) if each["from"] == "assessor" else told(each["from"], step))
    graph = build_graph(projected(*reports, agents=team["agents"]))
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    structure = structure_of(graph, find(graph, measure(graph, needed), Thresholds()))
    return structure, score(structure, tally_calls(graph), team["task_success"])


@pytest.mark.parametrize("title", TEAMS)
def test_a_worked_team_is_scored_as_the_document_works_it_out(title: str) -> None:
    text = section(f"## Worked: {title}\n")
    told, (structure, score) = worked(text), scored(given(text))
    computed = {part.id: part.value for part in score.sub_scores if part.value is not None}
    task = computed.pop("task", None)
    assert task == given(text)["task_success"]
    expected: dict[str, float | None] = {str(part): value for part, value in computed.items()}
    expected |= {"overall_score": score.overall, "coordination": structure.coordination_value}
    assert {name: told[name] for name in expected} == pytest.approx(expected, abs=0.0005)
    assert {part for part in WEIGHTS if part in told} == computed.keys()
    assert f"The label is `{structure.coordination_quality}`." in text


def test_a_single_agent_has_neither_score_nor_label() -> None:
    structure, score = scored({"agents": ["ann"], "calls": [], "task_success": None})
    assert (structure.communication, structure.distribution, structure.coordination_quality, score.overall) == (
        None,
    ) * 4


def test_it_tells_of_the_version_and_the_weights_that_there_are() -> None:
    assert f"This is version `{SCORING_VERSION}`," in TEXT
    table = re.findall(r"^\| `(\w+)` \| ([\d.]+) \|", section("## The parts\n"), re.MULTILINE)
    assert {part: float(weight) for part, weight in table} == WEIGHTS


def test_it_tells_of_the_label_and_the_pass_mark_that_there_are() -> None:
    label = section("## The label\n")
    assert f"at most {BOTTLENECK_CAP}." in label
    assert f"`high` from {HIGH}, `medium` from {MEDIUM}, else `low`" in label
    assert f"`thresholds.pass` ({Thresholds().passing})" in TEXT


def test_the_row_is_made_from_its_trials_as_worked_out() -> None:
    text = section("## From trials to the row\n")
    told, trials = worked(text), given(text)
    team = mesh(3)
    planned = plan(team[0], trials=len(trials["overall_scores"]) + 1)
    seconds: Sequence[float] = [*trials["seconds"], trials["seconds_of_the_unusable"]]
    verdicts = [
        judged(planned, team, outcome(f"trial-{number}", time_used=used, infrastructure=number == len(seconds)))
        for number, used in enumerate(seconds, 1)
    ]
    row = make_row(
        planned, [_with_score(*each) for each in zip(verdicts, [*trials["overall_scores"], 0], strict=True)], []
    )
    assert told == pytest.approx(
        {"score": row.score, "pass_rate": row.pass_rate, "time_used": row.time_used}, abs=0.0005
    )
    assert [failure.trial_id for failure in row.detail.infrastructure] == ["trial-4"]


def _with_score(verdict: JudgedTrial, value: float) -> JudgedTrial:
    assert verdict.record is not None
    passed = value >= Thresholds().passing if verdict.record.usable else None
    record = verdict.record.model_copy(update={"overall_score": value, "passed": passed})
    return verdict.model_copy(update={"record": record})


def test_the_interval_of_a_pass_rate_is_as_worked_out() -> None:
    told, interval = worked(section("**Pass rate**", "**Score**")), rate_interval(7, 12)
    assert interval is not None
    assert (told["low"], told["high"]) == pytest.approx((interval.low, interval.high), abs=0.0005)


def test_the_interval_of_a_score_is_as_worked_out() -> None:
    text = section("**Score**: Student", "**pass^k**")
    scores: dict[str, list[float]] = given(text)["scores"]
    values, tasks = zip(*((value, task) for task, runs in scores.items() for value in runs), strict=True)
    told, interval = worked(text), mean_interval(values, tasks)
    assert interval is not None
    assert (told["low"], told["high"]) == pytest.approx((interval.low, interval.high), abs=0.0005)


def test_pass_power_is_as_worked_out() -> None:
    text = section("**pass^k**", "**Confidence**")
    passes: list[list[bool]] = given(text)["passes"]
    assert worked(text) == pytest.approx({f"pass_{k}": pass_power(passes, k) for k in (1, 2, 3)}, abs=0.0005)


def test_the_words_for_confidence_are_those_it_names() -> None:
    table = re.findall(r"^\| (\d+) \| (none|[\d.]+) \| `(\w+)` \|$", section("**Confidence**"), re.MULTILINE)
    assert {word for _, _, word in table} == {"insufficient", "low", "adequate"}
    for tasks, width, word in table:
        interval = None if width == "none" else Interval(0.0, float(width), int(tasks), int(tasks), "t")
        assert confidence_in(interval, int(tasks)) == word
