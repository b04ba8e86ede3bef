"""Grading a trial: the task's scorer grades each participant's answer alone."""

from collections.abc import Mapping
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord_evaluator.scorers import grade_answers

State = Literal["completed", "failed", "timeout"]


def task(scorer: object = "exact", target: object = "Paris") -> TaskSpec:
    return TaskSpec.model_validate({"id": "task", "text": "What is it?", "target": target, "scorer": scorer})


def outcome(*answers: AgentAnswer) -> TrialOutcome:
    return TrialOutcome(
        trial_id="trial-1", state="completed", error=None, answer=None, answers=list(answers), time_used=1
    )


def agent_answer(text: str | None, agent: str = "a", state: State = "completed") -> AgentAnswer:
    return AgentAnswer(agent=agent, state=state, text=text, error=None if state == "completed" else "it broke")


def outcome_of(texts: Mapping[str, str | None]) -> TrialOutcome:
    return outcome(*(agent_answer(text, agent) for agent, text in texts.items()))


@pytest.mark.parametrize(("scorer", "target"), [(None, None), ("model", "Paris"), ("model", None)])
def test_without_a_code_scorer_grading_is_left_to_the_judge(scorer: str | None, target: str | None) -> None:
    assert grade_answers(task(scorer, target), ["a"], outcome(agent_answer("Paris"))) is None


def test_each_answer_is_graded_alone_and_the_mean_counts() -> None:
    grading = grade_answers(task(), ["a", "b", "c"], outcome_of({"c": "Rome", "a": "Paris", "b": "paris."}))
    assert grading is not None
    assert grading.value == pytest.approx(2 / 3)
    assert (grading.source, grading.scorer, grading.reason) == ("code", "exact", None)
    assert [(each.agent, each.value, each.explanation) for each in grading.answers] == [
        ("a", 1, 'is the target "Paris"'),
        ("b", 1, 'is the target "Paris"'),
        ("c", 0, '"Rome" is not the target "Paris"'),
    ]


def test_an_answer_of_another_agent_changes_nothing() -> None:
    alone = grade_answers(task(), ["a"], outcome_of({"a": "Paris"}))
    assert grade_answers(task(), ["a"], outcome_of({"a": "Paris", "b": "Rome"})) == alone


def test_an_agent_named_twice_counts_once() -> None:
    grading = grade_answers(task(), ["a", "b", "a"], outcome_of({"a": "Paris", "b": "Rome"}))
    assert grading is not None
    assert grading.value == 0.5


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "gave no answer"),
        (agent_answer(None), "gave no answer"),
        (agent_answer(""), "gave an empty answer"),
        (agent_answer(" \n\t"), "gave an empty answer"),
        (agent_answer("Paris", state="failed"), "failed"),
        (agent_answer(None, state="failed"), "failed"),
        (agent_answer("Paris", state="timeout"), "did not answer in time"),
    ],
)
def test_an_invalid_answer_is_graded_0_with_the_reason(answer: AgentAnswer | None, reason: str) -> None:
    # The pattern matches every text, so a grade of 0 does not come from the scorer.
    everything = task({"name": "pattern", "pattern": ".*"}, None)
    given = [] if answer is None else [answer]
    grading = grade_answers(everything, ["a", "b"], outcome(*given, agent_answer("yes", "b")))
    assert grading is not None
    assert (grading.value, grading.source) == (0.5, "code")
    assert (grading.answers[0].value, grading.answers[0].explanation) == (0, reason)


@pytest.mark.parametrize(
    ("scorer", "target", "reason"),
    [
        ({"name": "numeric"}, "about 4", 'the scorer numeric failed: the target "about 4" is not a number'),
        ({"name": "json", "schema": {"type": "x"}}, None, "the scorer json failed: the schema is not a JSON Schema"),
        ("exakt", "Paris", "no scorer is called 'exakt'"),
    ],
)
def test_a_failing_scorer_leaves_the_trial_ungraded(scorer: object, target: object, reason: str) -> None:
    grading = grade_answers(task(scorer, target), ["a", "b"], outcome_of({"a": "[]", "b": "[]"}))
    assert grading is not None
    assert (grading.value, grading.source, grading.answers) == (None, "nobody", [])
    assert grading.scorer == (scorer["name"] if isinstance(scorer, dict) else scorer)
    assert (grading.reason or "").startswith(reason)


def test_without_named_agents_nothing_is_graded() -> None:
    grading = grade_answers(task(), [], outcome(agent_answer("Paris")))
    assert grading is not None
    assert (grading.value, grading.source, grading.reason) == (None, "nobody", "no answer is to be graded")


@given(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["Paris", "Rome", "", None])))
def test_the_value_is_the_mean_over_all_named_agents(texts: dict[str, str | None]) -> None:
    grading = grade_answers(task(), ["a", "b", "c"], outcome_of(texts))
    assert grading is not None
    assert grading.value == pytest.approx(sum(texts.get(agent) == "Paris" for agent in "abc") / 3)
