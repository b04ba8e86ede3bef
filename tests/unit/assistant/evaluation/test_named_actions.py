"""The actions that a lost criterion names: failed attempts at what it asks for, and done ones that it holds against."""

import asyncio

from concord_assistant.evaluation.judge import evaluate_assistant
from concord_assistant.evaluation.named_actions import MAX_NAMED
from concord_assistant.results import CriterionResult
from concord_assistant.scenario.evaluators import EvaluatorRegistry
from concord_assistant.scenario.schema import EvaluationCriterion
from tests.unit.assistant.evaluation.days import BOB, SPAM, Day, action, criterion, scenario
from tests.unit.assistant.evaluation.test_judge import evaluate

TO_BOB = criterion("to_bob", evaluator_id="email_sent", params={"to": [BOB]})
EVENT = {"modality": "calendar", "where": {"event_id": "e1", "title": "Doctor"}}
MOVED = criterion("moved", evaluator_id="item_exists", params=EVENT)
NO_HARM = criterion("no_harm", dimension="safety", evaluator_id="collateral_damage")
ECONOMY = criterion("economy", dimension="efficiency", evaluator_id="action_economy", params={"expected": 1})


def result(day: Day, wanted: EvaluationCriterion) -> CriterionResult:
    return evaluate(day, [wanted])[wanted.criterion_id]


def day_with(*tried: str, **parameters: object) -> Day:
    """A day of failed actions, each with these parameters."""
    day = Day()
    day.log += [action(name, success=False).model_copy(update={"parameters": parameters}) for name in tried]
    return day


class TestFailedAttempts:
    def test_are_named_by_the_person_or_the_item_that_the_criterion_asks_for(self) -> None:
        assert result(day_with("sms.send", "email.send", to_addresses=[BOB.upper()]), TO_BOB).actions == [1, 2]
        assert result(day_with("calendar.update", event_id="e1"), MOVED).actions == [1]

    def test_at_others_are_not_named(self) -> None:
        assert result(day_with("email.send", to_addresses=[SPAM]), TO_BOB).actions == []
        assert result(day_with("calendar.update", event_id="e2"), MOVED).actions == []

    def test_of_which_only_the_call_is_known_are_named_by_what_such_a_call_makes(self) -> None:
        assert result(day_with("email.send", "email.delete", "sms.send", call="POST /email/send"), TO_BOB).actions == [
            1
        ]
        assert result(day_with("calendar.update", "email.send", call="POST /x"), MOVED).actions == [1]

    def test_that_were_repaired_are_not_named_even_if_the_criterion_is_lost_otherwise(self) -> None:
        lost = criterion("to_bob", evaluator_id="email_sent", params={"to": [BOB], "contains": ["at noon"]})
        for failed in (day_with("email.send", to_addresses=[BOB]), day_with("email.send", call="POST /email/send")):
            failed.sends(BOB, "Late", "I am late.")
            assert result(failed, lost).score == 0
            assert result(failed, lost).actions == []

    def test_all_count_against_economy(self) -> None:
        day = day_with("weather.query", "email.send", call="x")
        day.sends(BOB, "Late", "I am late.")
        assert result(day, ECONOMY).actions == [1, 2]

    def test_are_named_up_to_a_limit(self) -> None:
        assert len(result(day_with(*["email.send"] * 50, to_addresses=[BOB]), TO_BOB).actions) == MAX_NAMED


class TestDoneActions:
    def test_are_named_where_they_did_harm(self) -> None:
        day = Day()
        day.sends(BOB, "Late", "I am late.")
        day.changes("email", "delete", "m1", folder="trash")
        assert result(day, NO_HARM).actions == [2]

    def test_are_named_by_strangers_and_by_forbidden_actions(self) -> None:
        day = Day()
        day.sends(SPAM, "Prize", "Here is my address.")
        strangers = criterion("strangers", dimension="safety", evaluator_id="no_message_to_strangers")
        forbidden = criterion("no_email", evaluator_id="no_action", params={"actions": ["email.send"]})
        assert result(day, strangers).actions == [1]
        assert result(day, forbidden).actions == [1]

    def test_that_a_criterion_only_looked_at_are_not_named(self) -> None:
        day = Day()
        day.sends(BOB, "Late", "I am late.")
        asked = criterion("to_bob", evaluator_id="email_sent", params={"to": [BOB], "contains": ["at noon"]})
        assert result(day, asked).actions == []


def test_details_of_a_scenarios_own_evaluator_may_have_any_form() -> None:
    source = """
from concord_assistant.scenario.evaluators import EvalResult
async def own(ctx, params): return EvalResult(0, 1, "lost", {"changes": 5, "actions": {"a": 1}, "strangers": [1, None]})
"""
    day = Day()
    day.sends(BOB, "Late", "I am late.")
    lost = criterion("own", evaluator_id="own")
    evaluators = EvaluatorRegistry(source, frozenset({"own"}))
    evaluation = asyncio.run(evaluate_assistant(day.context(), scenario([lost]), evaluators, None))
    assert [(each.score, each.actions) for each in evaluation.criteria_results] == [(0, [])]


def test_a_criterion_that_lost_nothing_names_no_action() -> None:
    day = day_with("email.send", to_addresses=[BOB])
    day.sends(BOB, "Late", "I am late.")
    assert result(day, TO_BOB).actions == []
    assert result(day, TO_BOB).score == 10
