"""The evaluation of a stored record with a language model over real HTTP: its steps, its cache, and its deadline."""

import json
from typing import Any

import pytest

from concord.processes import CallsInThread
from concord.storage.connection import connect
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT
from concord_assistant.conducted import ConductedAssessment
from concord_assistant.scenario.evaluators import NO_EVALUATORS
from concord_evaluator.criteria.evaluation import CriteriaEvaluator
from tests.kit.llm_server import FakeModel, fake_model
from tests.unit.assistant.evaluation.days import BOB, Day, criterion, scenario
from tests.unit.assistant.evaluation.models import items_in

ROOT = Assignment(assessment_id="a", trace_id="0" * 32, step_id="1" * 16, agent_id=GREEN_AGENT)
POLITE = criterion("polite", evaluation_prompt="Was the assistant polite to Bob in its email?")


def document() -> str:
    """The stored record of a day with one polite email."""
    day = Day()
    day.sends(BOB, "Late", "Dear Bob, I am sorry to be late.")
    context = day.context()
    record = ConductedAssessment(
        assessment_id="a/trial-1",
        participant="http://assistant/",
        scenario=scenario([POLITE]).model_copy(update={"initial_state": {}}),
        evaluators=NO_EVALUATORS,
        status="completed",
        reason="scenario_complete",
        duration_seconds=1,
        final_time=context.final_time,
        turns=[],
        action_log=context.action_log,
        initial_state=context.initial_state,
        final_state=context.final_state,
    )
    return record.document()


def polite(asked: dict[str, Any]) -> str:
    """A model that finds the assistant polite, with a true quote."""
    schema = asked["response_format"]["json_schema"]["schema"]
    name, canary = schema["properties"]["criteria"]["items"]["properties"]["criterion"]["enum"]
    [email] = [each for each in items_in(asked["messages"][1]["content"]) if "email.send" in each["id"]]
    quote = {"id": email["id"], "quote": "Dear Bob, I am sorry to be late."}
    decisions = [
        {"criterion": name, "evidence": [quote], "verdict": "met"},
        {"criterion": canary, "evidence": [], "verdict": "not_met"},
    ]
    return json.dumps({"criteria": decisions, "reasoning": "Seen."})


async def test_a_models_calls_become_steps_and_its_answers_are_cached(redis_url: str) -> None:
    model = FakeModel(polite)
    async with connect(redis_url) as storage, fake_model(model) as settings:
        evaluator = CriteriaEvaluator(settings, deadline_s=60, cache=storage.answers)
        first, steps = await evaluator.evaluate(document(), ROOT, CallsInThread())
        again, none = await evaluator.evaluate(document(), ROOT, CallsInThread())
    [result] = first.criteria_results
    assert (result.score, result.method, result.error) == (10, "model", None)
    assert again.scores == first.scores
    assert len(model.asked) == len(steps) > 0
    assert {step.parent_step_id for step in steps} == {ROOT.step_id}
    assert none == []


async def test_criteria_that_the_model_does_not_answer_in_time_are_null() -> None:
    model = FakeModel(polite, delay_s=5)
    async with fake_model(model) as settings:
        results, _ = await CriteriaEvaluator(settings, deadline_s=0.3).evaluate(document(), ROOT, CallsInThread())
    [result] = results.criteria_results
    assert result.score is None
    assert "is used up" in (result.error or "")
    assert results.unjudged


async def test_without_a_model_such_criteria_are_null() -> None:
    results, steps = await CriteriaEvaluator(None, deadline_s=1).evaluate(document(), ROOT, CallsInThread())
    assert ([each.error for each in results.criteria_results], steps) == (["no language model is configured"], [])


async def test_a_document_that_is_no_record_is_refused() -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - any reason
        await CriteriaEvaluator(None, deadline_s=1).evaluate("nonsense", ROOT, CallsInThread())
