"""The rules that judge where no model does."""

import pytest

from concord.assessment import Mode
from concord.results import Judgment
from concord_evaluator.judge import judge_by_rules
from tests.unit.evaluator.graphs import Team, agents, mesh, star, with_isolated
from tests.unit.evaluator.trials import State, batches_of, evaluated, outcome, plan


def judgment(
    team: Team, state: State = "completed", answer: str | None = "done", *, mode: Mode = Mode.LIVE
) -> Judgment:
    evaluation = evaluated(plan(team[0]), batches_of(team), outcome(state=state, answer=answer))
    return judge_by_rules(evaluation, mode, "no key is set")


def test_says_that_rules_judged_and_why() -> None:
    judged = judgment(mesh(3))
    assert (judged.source, judged.reason) == ("rules", "no key is set")


@pytest.mark.parametrize(
    ("state", "answer"), [("failed", None), ("timeout", "half"), ("completed", ""), ("completed", None)]
)
def test_a_task_that_nobody_finished_or_answered_is_no_success(state: State, answer: str | None) -> None:
    judged = judgment(mesh(3), state, answer)
    assert judged.task_success == 0.0
    assert judged.overall_score == pytest.approx((1 + 1 + 0) / 3)


def test_whether_an_answer_is_right_is_unknown() -> None:
    assert judgment(mesh(3)).task_success is None


def test_a_pattern_has_no_task_to_succeed_in() -> None:
    assert judgment(mesh(3), answer=None, mode=Mode.GROUND_TRUTH).task_success is None


def test_a_team_that_addressed_the_judge_gains_nothing_by_being_caught() -> None:
    evaluation = evaluated(plan(mesh(3)[0]), batches_of(mesh(3)), outcome(answer="done"))
    caught = judge_by_rules(evaluation, Mode.LIVE, "agents addressed the judge", addressed=True)
    assert caught.task_success == 0.0
    assert "Agents addressed the judge, so their task counts as failed." in caught.weaknesses


def test_a_good_team_has_strengths_and_no_weakness() -> None:
    judged = judgment(mesh(4))
    assert len(judged.strengths) == 4
    assert judged.weaknesses == []
    assert judged.coordination_quality == "high"


def test_every_finding_is_a_weakness() -> None:
    team = with_isolated(star(5))
    findings = evaluated(plan(team[0]), batches_of(team)).findings
    assert {finding.advice for finding in findings} <= set(judgment(team).weaknesses)


def test_failed_calls_are_a_weakness_and_lower_the_view() -> None:
    evaluation = evaluated(plan(agents(3)), batches_of(mesh(3), error="down"))
    judged = judge_by_rules(evaluation, Mode.LIVE, "")
    assert "Some calls failed." in judged.weaknesses
    assert "Every call succeeded." not in judged.strengths
    assert judged.overall_score == 0.0


def test_a_single_agent_cannot_be_judged_for_coordination() -> None:
    judged = judgment((agents(1), []))
    assert (judged.coordination_quality, judged.overall_score) == (None, None)
