"""The built-in evaluators: what earns their points."""

from typing import Any

import pytest

from concord_assistant.evaluation.built_in import check_params, evaluate_built_in
from concord_assistant.scenario.evaluators import EvalResult
from tests.unit.assistant.evaluation.days import Day, criterion

LUNCH = {"modality": "calendar", "where": {"title": {"contains": "lunch"}, "start": "2026-03-16T13:00:00+01:00"}}


def evaluated(day: Day, evaluator_id: str, params: dict[str, Any]) -> EvalResult:
    """The result of a criterion."""
    return evaluate_built_in(criterion("asked", evaluator_id=evaluator_id, params=params), day.context())


@pytest.mark.parametrize(
    ("fields", "points"),
    [({}, 10), ({"start": "2026-03-16T12:30:00Z"}, 0), ({"start": "2026-03-16T07:00:00-05:00"}, 10)],
)
def test_an_event_exists_if_its_fields_fit_and_times_are_instants(fields: dict[str, Any], points: float) -> None:
    day = Day()
    day.plans("Team lunch", **fields)
    assert evaluated(day, "item_exists", LUNCH).score == points


def test_too_many_items_are_as_wrong_as_too_few() -> None:
    day = Day()
    exactly_one = {**LUNCH, "max_count": 1}
    assert evaluated(day, "item_exists", exactly_one).score == 0
    day.plans("Lunch")
    assert evaluated(day, "item_exists", exactly_one).score == 10
    day.plans("Lunch")
    assert evaluated(day, "item_exists", exactly_one).score == 0


def test_the_user_is_told_facts_in_one_message_that_is_no_dump() -> None:
    day = Day()
    facts = {"contains": ["bob", "12:00"], "max_characters": 200}
    day.tells("bob 12:00" + " and everything else" * 20)
    assert evaluated(day, "user_told", facts).score == 0
    day.tells("I wrote to Bob.")
    assert evaluated(day, "user_told", facts).score == 5
    day.tells("I wrote to Bob; lunch is at 12:00.")
    assert evaluated(day, "user_told", facts).score == 10


def test_a_fact_may_have_several_wordings() -> None:
    day = Day()
    facts = {"contains": [["3", "three"], "bob"]}
    day.tells("You have two appointments, one with Bob.")
    assert evaluated(day, "user_told", facts).score == 5
    day.tells("You have three appointments, one with Bob.")
    assert evaluated(day, "user_told", facts).score == 10


@pytest.mark.parametrize(("evaluator_id", "params"), [("item_exists", LUNCH), ("user_told", {"contains": ["late"]})])
def test_an_assistant_that_does_nothing_earns_nothing(evaluator_id: str, params: dict[str, Any]) -> None:
    assert evaluated(Day(), evaluator_id, params).score == 0


@pytest.mark.parametrize(
    ("evaluator_id", "params"),
    [("user_told", {}), ("item_exists", {"modality": "email"})],
)
def test_unsuitable_parameters_are_refused(evaluator_id: str, params: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="Field required"):
        check_params(criterion("x", evaluator_id=evaluator_id, params=params))
