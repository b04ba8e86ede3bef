"""Updates: the emitter sends one of each type, and each has a short line for people."""

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest

from concord_assistant import updates
from concord_assistant.emitter import TaskUpdateEmitter
from concord_assistant.update_text import MAX_LINE, line_of
from concord_assistant.updates import Update

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)

EMITTED: dict[str, tuple[Update, str]] = {
    "assessment_started": (
        updates.AssessmentStarted(assessment_id="a", scenario_id="s", participant_url="http://p/", start_time=NOON),
        "scenario s: starts at 2026-05-04 12:00",
    ),
    "scenario_loaded": (
        updates.ScenarioLoaded(scenario_id="s", scenario_name="S", criteria_count=1, character_count=2),
        "loaded “S”: 1 criterion, 2 people",
    ),
    "turn_started": (
        updates.TurnStarted(turn_number=1, current_time=NOON, events_pending=3),
        "turn 1: 2026-05-04 12:00, 3 events to come",
    ),
    "turn_completed": (
        updates.TurnCompleted(
            turn_number=1, actions_taken=2, time_advanced=timedelta(minutes=90), early_completion_requested=True
        ),
        "turn 1: 2 actions, 1 h 30 min, the assistant is done",
    ),
    "responses_generated": (
        updates.ResponsesGenerated(turn_number=1, responses_count=1, characters_involved=["tom"]),
        "turn 1: 1 reply from tom",
    ),
    "simulation_advanced": (
        updates.SimulationAdvanced(
            previous_time=NOON, new_time=NOON, duration=timedelta(seconds=1), events_processed=1
        ),
        "time advanced by 1 s to 2026-05-04 12:00, 1 event",
    ),
    "evaluation_started": (
        updates.EvaluationStarted(criteria_count=3, dimensions=["accuracy"]),
        "evaluating 3 criteria",
    ),
    "criterion_evaluated": (
        updates.CriterionEvaluated(
            criterion_id="c",
            criterion_name="C",
            dimension="safety",
            score=None,
            max_score=5,
            evaluation_method="llm",
        ),
        "C: not evaluated",
    ),
    "assessment_completed": (
        updates.AssessmentCompleted(
            reason="timeout", total_turns=1, total_actions=0, duration_seconds=1, overall_score=2.5, max_score=5
        ),
        "timeout after 1 turn and 0 actions: 2.5 of 5 points",
    ),
    "error_occurred": (
        updates.ErrorOccurred(error_type="timeout", error_message="no reply", recoverable=True),
        "timeout: no reply",
    ),
    "action_observed": (
        updates.ActionObserved(
            turn_number=1,
            timestamp=NOON,
            action="email.send",
            parameters={"subject": "Hi\nthere", "to_addresses": ["a@b.example"], "body_text": "…"},
            success=False,
            error_message="no",
        ),
        "turn 1: email.send a@b.example · Hi there failed: no",
    ),
}


@pytest.mark.parametrize("name", EMITTED)
async def test_each_update_is_sent_and_has_a_line(name: str) -> None:
    sent: list[Update] = []

    async def send(update: Update) -> None:
        sent.append(update)

    emitted, line = EMITTED[name]
    await TaskUpdateEmitter(send).send(emitted)
    [update] = sent
    assert update.data()["message_type"] == f"update_{name}"
    assert line_of(update) == line


def test_every_update_of_the_contract_is_among_them() -> None:
    types = {
        get_args(kind.model_fields["message_type"].annotation)[0]
        for kind in vars(updates).values()
        if isinstance(kind, type) and issubclass(kind, Update) and kind is not Update
    }
    assert types == {f"update_{name}" for name in EMITTED}


def test_a_line_is_short() -> None:
    update = updates.ErrorOccurred(error_type="timeout", error_message="x" * 1000, recoverable=True)
    assert len(line_of(update)) == MAX_LINE
