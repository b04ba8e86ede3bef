"""The rules that judge when no model does."""

import pytest

from concord.assessment import AssessmentPlan, Mode
from concord.assessment.results import AgentAnswer, Judgment
from concord_evaluator.judge import judge_by_rules
from concord_evaluator.judge.evidence import NO_ANSWER, answers_that_count
from tests.kit.graphs import Team, agents, mesh, star, with_isolated
from tests.kit.trials import State, batches_of, evaluated, outcome, plan


def judgment(
    team: Team, state: State = "completed", answer: str | None = "done", *, mode: Mode = Mode.LIVE
) -> Judgment:
    evaluation = evaluated(ungraded(team), batches_of(team), outcome(state=state, answer=answer))
    return judge_by_rules(evaluation, mode, "no key is set")


def ungraded(team: Team) -> AssessmentPlan:
    return plan(team[0], graded=False)


def test_of_a_trial_that_code_graded_the_judgment_is_that_grade() -> None:
    for answer, value in (("done", 1.0), ("wrong", 0.0)):
        evaluation = evaluated(plan(mesh(3)[0]), batches_of(mesh(3)), outcome(answer=answer))
        judged = judge_by_rules(evaluation, Mode.LIVE, "no key is set")
        assert (judged.overall_score, judged.task_success, judged.strengths, judged.weaknesses) == (
            value,
            value,
            [],
            [],
        )
        assert judged.reasoning.startswith(f"The scorer exact graded the outcome {value:.2f}.")


def test_the_judgment_names_the_rules_as_its_source_and_the_reason() -> None:
    judged = judgment(mesh(3))
    assert (judged.source, judged.reason) == ("rules", "no key is set")


@pytest.mark.parametrize(
    ("state", "answer"), [("failed", None), ("timeout", "half"), ("completed", ""), ("completed", None)]
)
def test_an_unfinished_or_unanswered_task_is_no_success(state: State, answer: str | None) -> None:
    judged = judgment(mesh(3), state, answer)
    assert judged.task_success == 0.0
    assert judged.overall_score == pytest.approx((1 + 1 + 0) / 3)


def test_the_correctness_of_an_answer_stays_open_and_the_reasoning_says_so() -> None:
    judged = judgment(mesh(3))
    assert (judged.task_success, judged.answers) == (None, [])
    assert "Rules judged, which rate structure and calls and do not judge the answer." in judged.reasoning


def test_missing_answers_of_named_agents_are_worth_0() -> None:
    ended = outcome(answer="eve's answer").model_copy(
        update={"answers": [AgentAnswer(agent="eve", state="completed", text="12", error=None)]}
    )
    evaluation = evaluated(ungraded(mesh(3)), batches_of(mesh(3)), ended)
    missing = answers_that_count(ended, Mode.LIVE, ["ann"])
    judged = judge_by_rules(evaluation, Mode.LIVE, "", answers=missing)
    assert judged.task_success == 0.0
    assert [(each.agent, each.value, each.explanation) for each in judged.answers] == [("ann", 0.0, NO_ANSWER)]
    assert NO_ANSWER in judged.weaknesses
    assert judge_by_rules(evaluation, Mode.LIVE, "").task_success is None, "eve's counts where nobody is named"


def test_a_given_pattern_has_no_task_success() -> None:
    assert judgment(mesh(3), answer=None, mode=Mode.GROUND_TRUTH).task_success is None


def test_a_team_whose_instructions_the_model_followed_fails_its_task() -> None:
    evaluation = evaluated(ungraded(mesh(3)), batches_of(mesh(3)), outcome(answer="done"))
    caught = judge_by_rules(
        evaluation, Mode.LIVE, "the model followed instructions in the agents' texts", addressed=True
    )
    assert caught.task_success == 0.0
    assert {each.value for each in caught.answers} == {0.0}
    assert "The model followed instructions in the agents' texts, so the task counts as failed." in caught.weaknesses


def test_a_good_pattern_has_strengths_and_no_weakness() -> None:
    judged = judgment(mesh(4), answer=None, mode=Mode.GROUND_TRUTH)
    assert len(judged.strengths) == 4
    assert judged.weaknesses == []
    assert judged.coordination_quality == "high"


def test_every_finding_of_a_pattern_is_a_weakness_once() -> None:
    team = with_isolated(star(5))
    evaluation = evaluated(ungraded(team), batches_of(team))
    twice = evaluation.model_copy(update={"findings": [*evaluation.findings, *evaluation.findings]})
    weaknesses = judge_by_rules(twice, Mode.GROUND_TRUTH, "").weaknesses
    assert {finding.advice for finding in evaluation.findings} <= set(weaknesses)
    assert len(set(weaknesses)) == len(weaknesses) > 0


def test_structure_is_no_strength_and_no_weakness_of_a_live_team() -> None:
    for team in (mesh(4), with_isolated(star(5))):
        judged = judgment(team)
        assert (judged.strengths, judged.weaknesses) == ([], [])


def test_failed_calls_lower_the_rules_figure() -> None:
    evaluation = evaluated(plan(agents(3), graded=False), batches_of(mesh(3), error="down"))
    assert judge_by_rules(evaluation, Mode.LIVE, "").overall_score == 0.0


def test_a_single_agent_cannot_be_judged_for_coordination() -> None:
    judged = judgment((agents(1), []))
    assert (judged.coordination_quality, judged.overall_score) == (None, None)
