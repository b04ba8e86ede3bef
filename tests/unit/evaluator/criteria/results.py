"""Results of an assistant's assessment, with as many criteria and actions as a test needs."""

from datetime import UTC, datetime
from typing import Any

from concord_assistant.evaluation.scores import aggregate_scores, unjudged
from concord_assistant.results import (
    ActionLogEntry,
    AssessmentResults,
    CriterionResult,
    Scores,
    TurnResult,
)

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def criterion(name: str, score: float | None, max_score: int = 10, **fields: Any) -> CriterionResult:  # noqa: ANN401
    """The result of a criterion."""
    known: dict[str, Any] = {
        "criterion_id": name,
        "name": name,
        "dimension": "accuracy",
        "score": score,
        "max_score": max_score,
        "explanation": "because",
        "method": "programmatic",
    }
    return CriterionResult(**(known | fields))


def results(*criteria: CriterionResult, actions: int = 0, text: str = "", **fields: Any) -> AssessmentResults:  # noqa: ANN401
    """The results with these criteria, and that many actions with a text."""
    overall = aggregate_scores(criteria).overall
    entry = ActionLogEntry(turn=1, timestamp=NOON, action="email.send", parameters={"body_text": text}, success=True)
    known: dict[str, Any] = {
        "assessment_id": "a/trial-1",
        "scenario_id": "s",
        "participant": "http://assistant/",
        "status": "completed",
        "reason": "scenario_complete",
        "unjudged": unjudged(criteria),
        "duration_seconds": 1,
        "turns_taken": 1,
        "actions_taken": actions,
        "scores": Scores(overall=overall, dimensions={"accuracy": overall}),
        "criteria_results": list(criteria),
        "turns": [TurnResult(turn=1, started_at=NOON, ended_at=NOON, notes=text)],
        "action_log": [entry] * actions,
    }
    return AssessmentResults(**(known | fields))
