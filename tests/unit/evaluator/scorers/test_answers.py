"""Grading a trial: each participant's answer alone, by the task's scorer."""

from collections.abc import Mapping
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import TaskSpec
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord_evaluator.scorers import MAX_ANSWER, grade_answers

State = Literal["completed", "failed", "timeout"]


def task(scorer: object = "exact", target: object = "Paris") -> TaskSpec:
    return TaskSpec.model_validate({"id": "task", "text": "What is it?", "target": target, "scorer": scorer})


def outcome(*answers: AgentAnswer) -> TrialOutcome:
    return TrialOutcome(
        trial_id="trial-1", state="completed", error=None, answer=None, answers=list(answers), time_used=1
    )


def said(text: str | None, agent: str = "a", state: State = "completed") -> AgentAnswer:
    return AgentAnswer(agent=agent, state=state, text=text, error=None if state == "completed" else "it broke")


def outcome_of(texts: Mapping[str, str | None]) -> TrialOutcome:
    return outcome(*(said(text, agent) for agent, text in texts.items()))


@pytest.mark.parametrize(("scorer", "target"), [(None, None), ("model", "Paris"), ("model", None)])
def test_without_a_scorer_that_is_code_it_is_left_to_the_judge(scorer: str | None, target: str | None) -> None:
    assert grade_answers(task(scorer, target), ["a"], outcome(said("Paris"))) is None


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


def test_what_others_answered_changes_nothing() -> None:
    alone = grade_answers(task(), ["a"], outcome_of({"a": "Paris"}))
    assert grade_answers(task(), ["a"], outcome_of({"a": "Paris", "b": "Rome"})) == alone


def test_who_is_named_twice_counts_once() -> None:
    grading = grade_answers(task(), ["a", "b", "a"], outcome_of({"a": "Paris", "b": "Rome"}))
    assert grading is not None
    assert grading.value == 0.5


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (None, "gave no answer"),
        (said(None), "gave no answer"),
        (said(""), "gave an empty answer"),
        (said(" \n\t"), "gave an empty answer"),
        (said("Paris", state="failed"), "failed"),
        (said(None, state="failed"), "failed"),
        (said("Paris", state="timeout"), "did not answer in time"),
        (said("Paris " * MAX_ANSWER), "the answer is longer than 100,000 characters"),
    ],
)
def test_who_gave_no_answer_gets_nothing_and_the_reason(answer: AgentAnswer | None, reason: str) -> None:
    # A pattern that everything matches, so that it is not the scorer that gives 0.
    everything = task({"name": "pattern", "pattern": ".*"}, None)
    given = [] if answer is None else [answer]
    grading = grade_answers(everything, ["a", "b"], outcome(*given, said("yes", "b")))
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
def test_where_the_scorer_cannot_grade_nobody_did(scorer: object, target: object, reason: str) -> None:
    grading = grade_answers(task(scorer, target), ["a", "b"], outcome_of({"a": "[]", "b": "[]"}))
    assert grading is not None
    assert (grading.value, grading.source, grading.answers) == (None, "nobody", [])
    assert grading.scorer == (scorer["name"] if isinstance(scorer, dict) else scorer)
    assert (grading.reason or "").startswith(reason)


def test_where_nobody_is_to_answer_nobody_is_graded() -> None:
    grading = grade_answers(task(), [], outcome(said("Paris")))
    assert grading is not None
    assert (grading.value, grading.source, grading.reason) == (None, "nobody", "no answer is to be graded")


@given(st.dictionaries(st.sampled_from("abcd"), st.sampled_from(["Paris", "Rome", "", None])))
def test_the_value_is_the_mean_over_all_who_were_to_answer(texts: dict[str, str | None]) -> None:
    grading = grade_answers(task(), ["a", "b", "c"], outcome_of(texts))
    assert grading is not None
    assert grading.value == pytest.approx(sum(texts.get(agent) == "Paris" for agent in "abc") / 3)
