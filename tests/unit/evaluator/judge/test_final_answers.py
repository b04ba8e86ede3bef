"""Final answers: each counts alone; a missing one is worth 0, and an unjudged one leaves the outcome open."""

from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.assessment import Mode
from concord.assessment.results import AgentAnswer, TrialOutcome
from concord_evaluator.judge import SeenAnswer
from concord_evaluator.judge.evidence import NO_ANSWER, answers_of, answers_that_count, grades, task_success
from tests.kit.trials import outcome, plan

State = Literal["completed", "failed", "timeout"]


def answered(agent: str, text: str | None, state: State = "completed") -> AgentAnswer:
    return AgentAnswer(agent=agent, state=state, text=text, error=None)


def ended(*answers: AgentAnswer, state: State = "completed") -> TrialOutcome:
    return outcome(state=state, answer="all of it").model_copy(update={"answers": list(answers)})


def test_equal_answers_of_several_agents_are_judged_once() -> None:
    given = ended(answered("ann", "12"), answered("bob", " 12\n"), answered("cyril", "13"))
    assert answers_that_count(given, Mode.LIVE) == (SeenAnswer(("ann", "bob"), "12"), SeenAnswer(("cyril",), "13"))


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (answered("ann", None), "The answer is empty."),
        (answered("ann", " \n"), "The answer is empty."),
        (answered("ann", "half of it", "failed"), "The agent failed."),
        (answered("ann", "half of it", "timeout"), "The agent did not answer in time."),
        (answered("eve", "12"), NO_ANSWER),
    ],
)
def test_missing_empty_failed_and_late_answers_are_not_judged(answer: AgentAnswer, fault: str) -> None:
    assert answers_that_count(ended(answer), Mode.LIVE, ["ann"]) == (SeenAnswer(("ann",), "", fault),)


def test_only_answers_of_the_named_agents_count() -> None:
    given = ended(answered("ann", "12"), answered("bob", "13"))
    for config, agents in (
        ({}, [("ann",), ("bob",)]),
        ({"answer_from": ["bob"]}, [("bob",)]),
        ({"start": "ann"}, [("ann",)]),
    ):
        assert [answer.agents for answer in answers_of(plan(("ann", "bob"), config=config), given)] == agents


def test_the_answers_of_a_failed_task_are_worth_0() -> None:
    (answer,) = answers_that_count(ended(answered("ann", "12"), state="failed"), Mode.LIVE)
    assert (answer.agents, answer.fault) == (("ann",), "The task ended with failed.")
    assert task_success((answer,), {}) == 0


def test_without_separate_answers_the_trials_answer_counts() -> None:
    assert answers_that_count(outcome(answer="12"), Mode.RECORDED) == (SeenAnswer((), "12"),)
    assert answers_that_count(outcome(answer=None), Mode.RECORDED) == ()
    assert answers_that_count(outcome(answer=None), Mode.LIVE) == (SeenAnswer((), "", NO_ANSWER),)
    assert answers_that_count(outcome(answer="12"), Mode.GROUND_TRUTH) == ()


@given(st.lists(st.tuples(st.integers(1, 4), st.none() | st.sampled_from([0.0, 0.5, 1.0])), max_size=6))
def test_the_outcome_is_the_mean_over_participants_or_open(found: list[tuple[int, float | None]]) -> None:
    answers = [SeenAnswer(tuple(f"{k}.{i}" for i in range(n)), f"text {k}") for k, (n, _) in enumerate(found)]
    judged = {answer: (value, "why") for answer, (_, value) in zip(answers, found, strict=True) if value is not None}
    success, graded = task_success(answers, judged), grades(answers, judged)
    if not found or any(value is None for _, value in found):
        assert success is None
    else:
        assert success == pytest.approx(sum(each.value for each in graded) / len(graded))
    assert [each.agent for each in graded] == sorted(agent for answer in judged for agent in answer.agents)


def test_a_faulty_answer_is_worth_0_with_the_reason() -> None:
    answers = [SeenAnswer(("bob",), "12"), SeenAnswer(("ann",), "", NO_ANSWER)]
    judged = {answers[0]: (1.0, "It is right.")}
    assert task_success(answers, judged) == 0.5
    assert [(each.agent, each.value, each.explanation) for each in grades(answers, judged)] == [
        ("ann", 0.0, NO_ANSWER),
        ("bob", 1.0, "It is right."),
    ]
