"""The sentences of a verdict: each follows from fields of the row, and says nothing that the row does not."""

import json
import re
from math import fsum

import pytest

from concord.assessment import Mode
from concord.assessment.result_row import ResultRow
from concord.assessment.verdict import CauseKind, UnknownKind, Verdict
from concord.assessment.verdict_text import (
    CAUSE_WORDS,
    cause_text,
    headline_of,
    outcome_text,
    reasoning_of,
    score_text,
    unknown_text,
    weaknesses_of,
)
from concord_evaluator.verdict import verdict_of
from tests.unit.verdict.cases import PLAYED, RIGHT, Right

every_row = pytest.mark.parametrize("case", RIGHT, ids=lambda case: case.name)


def row_and_verdict(case: Right) -> tuple[ResultRow, Verdict]:
    row = case.make()
    assert row.detail.verdict is not None
    return row, row.detail.verdict


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"\d[\d,]*(?:\.\d+)?", text)]


@every_row
def test_outcome_and_score_have_the_numbers_of_the_row(case: Right) -> None:
    row, verdict = row_and_verdict(case)
    trials = [trial for trial in row.detail.trials if trial.usable and not trial.is_control]
    if verdict.score is None or "structure_only" in case.unknown:
        assert numbers(outcome_text(verdict)) == [verdict.trials]
        return
    passed = sum(trial.passed is True for trial in trials)
    lost = sum(each.count for each in verdict.unknown if each.kind is UnknownKind.LOST)
    mark = 100 * row.detail.scoring.pass_threshold

    assert numbers(outcome_text(verdict)) == pytest.approx([passed, len(trials) + lost, mark])
    assert numbers(score_text(verdict))[:2] == pytest.approx([row.score, 100], abs=0.05)


@every_row
def test_what_is_known_comes_first_if_and_only_if_nobody_judged_a_live_team(case: Right) -> None:
    row, verdict = row_and_verdict(case)
    unjudged = row.score is None and row.detail.mode is Mode.LIVE and any(trial.usable for trial in row.detail.trials)
    assert (verdict.known is not None) is unjudged
    assert reasoning_of(verdict).startswith("Seen: ") is headline_of(verdict).startswith("Seen: ") is unjudged
    if verdict.known is not None:
        assert verdict.known.agents == len(row.detail.agents)
        assert verdict.known.coordination == row.detail.graph_metrics.coordination_quality
        assert [each.advice for each in row.detail.findings][: len(verdict.known.findings)] == verdict.known.findings


@every_row
def test_what_a_cause_names_and_quotes_stands_in_the_row(case: Right) -> None:
    row, verdict = row_and_verdict(case)
    rest = json.dumps(
        row.model_copy(update={"detail": row.detail.model_copy(update={"verdict": None})}).model_dump(mode="json")
    )
    for cause in verdict.causes:
        words = cause_text(cause)
        named = [*cause.agents, *cause.tasks, *cause.trials, *cause.steps]
        quoted = [each.text for each in cause.evidence if "further causes" not in each.text]

        assert all(json.dumps(each)[1:-1] in rest for each in [*named, *quoted])
        assert all(agent in words.subject for agent in cause.agents) or cause.kind is CauseKind.CRITERION
        assert all(text in words.text for text in quoted)
        assert CAUSE_WORDS[cause.kind].deed in words.text


@every_row
def test_the_points_of_a_cause_follow_from_the_trials_that_it_names(case: Right) -> None:
    row, verdict = row_and_verdict(case)
    for cause in verdict.causes:
        of_cause = [trial for trial in row.detail.trials if trial.trial_id in cause.trials]
        possible = fsum(100 * (1 - (trial.overall_score or 0.0)) for trial in of_cause) / max(1, verdict.trials)

        assert len(of_cause) == min(cause.trials_count, 20)
        if cause.points is not None and cause.trials_count == len(of_cause):
            assert cause.points <= possible + 1e-6
            assert cause_text(cause).points == f"{cause.points:.1f} points"


@every_row
def test_a_verdict_and_its_sentences_can_be_computed_again_from_the_row(case: Right) -> None:
    row, verdict = row_and_verdict(case)
    again = verdict_of(ResultRow.model_validate_json(row.model_dump_json()))

    assert again == verdict
    assert reasoning_of(again) == reasoning_of(verdict)
    assert all(unknown_text(each) in reasoning_of(verdict) for each in verdict.unknown)


@pytest.mark.parametrize("case", PLAYED, ids=lambda case: case.name)
def test_the_texts_of_a_row_render_its_verdict(case: Right) -> None:
    row, verdict = row_and_verdict(case)

    assert row.detail.reasoning.startswith(reasoning_of(verdict))
    assert row.detail.weaknesses[: len(weaknesses_of(verdict))] == weaknesses_of(verdict)
    assert not any("completed" in text for text in [row.detail.reasoning, *row.detail.strengths])


def test_every_kind_has_words() -> None:
    assert set(CAUSE_WORDS) == set(CauseKind)
