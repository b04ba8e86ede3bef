"""The updates of a running assessment, as data parts of A2A `working` status updates."""

from typing import Any, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt, PositiveInt

from concord_assistant.durations import Delay
from concord_assistant.messages import CompletionReason
from concord_assistant.results import AssessmentResults, CriterionResult, Dimension


class Update(BaseModel):
    """An update, told apart by `message_type`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def data(self) -> dict[str, Any]:
        """The update as the content of a data part."""
        return self.model_dump(mode="json")


class AssessmentStarted(Update):
    """The assessment began."""

    message_type: Literal["update_assessment_started"] = "update_assessment_started"
    assessment_id: str
    scenario_id: str
    participant_url: str
    start_time: AwareDatetime


class ScenarioLoaded(Update):
    """The environment holds the scenario's initial state."""

    message_type: Literal["update_scenario_loaded"] = "update_scenario_loaded"
    scenario_id: str
    scenario_name: str
    criteria_count: NonNegativeInt
    character_count: NonNegativeInt


class TurnStarted(Update):
    """A turn began."""

    message_type: Literal["update_turn_started"] = "update_turn_started"
    turn_number: PositiveInt
    current_time: AwareDatetime
    events_pending: NonNegativeInt


class TurnCompleted(Update):
    """A turn ended, with or without an error."""

    message_type: Literal["update_turn_completed"] = "update_turn_completed"
    turn_number: PositiveInt
    actions_taken: NonNegativeInt
    time_advanced: Delay
    early_completion_requested: bool = False


class ResponsesGenerated(Update):
    """The characters' replies of a turn are scheduled."""

    message_type: Literal["update_responses_generated"] = "update_responses_generated"
    turn_number: PositiveInt
    responses_count: NonNegativeInt
    characters_involved: list[str]


class SimulationAdvanced(Update):
    """The simulated time advanced."""

    message_type: Literal["update_simulation_advanced"] = "update_simulation_advanced"
    previous_time: AwareDatetime
    new_time: AwareDatetime
    duration: Delay
    events_processed: NonNegativeInt


class EvaluationStarted(Update):
    """The evaluation of the criteria began."""

    message_type: Literal["update_evaluation_started"] = "update_evaluation_started"
    criteria_count: NonNegativeInt
    dimensions: list[Dimension]


class CriterionEvaluated(Update):
    """A criterion was evaluated. `score` is null if its check failed."""

    message_type: Literal["update_criterion_evaluated"] = "update_criterion_evaluated"
    criterion_id: str
    criterion_name: str
    dimension: Dimension
    score: NonNegativeFloat | None
    max_score: NonNegativeFloat
    evaluation_method: Literal["programmatic", "llm"]

    @classmethod
    def of(cls, result: CriterionResult) -> Self:
        """The update about this result."""
        return cls(
            criterion_id=result.criterion_id,
            criterion_name=result.name,
            dimension=result.dimension,
            score=result.score,
            max_score=result.max_score,
            evaluation_method="programmatic" if result.method == "programmatic" else "llm",
        )


class AssessmentCompleted(Update):
    """The assessment ended."""

    message_type: Literal["update_assessment_completed"] = "update_assessment_completed"
    reason: CompletionReason
    total_turns: NonNegativeInt
    total_actions: NonNegativeInt
    duration_seconds: NonNegativeFloat
    overall_score: NonNegativeFloat
    max_score: NonNegativeFloat

    @classmethod
    def of(cls, results: AssessmentResults) -> Self:
        """The update about these results."""
        return cls(
            reason=results.reason,
            total_turns=results.turns_taken,
            total_actions=results.actions_taken,
            duration_seconds=results.duration_seconds,
            overall_score=results.scores.overall.score,
            max_score=results.scores.overall.max_score,
        )


class ErrorOccurred(Update):
    """An error occurred. A `recoverable` one does not end the assessment."""

    message_type: Literal["update_error_occurred"] = "update_error_occurred"
    error_type: Literal[
        "timeout", "communication_error", "protocol_error", "ues_error", "evaluation_error", "internal_error"
    ]
    error_message: str
    recoverable: bool
    context: dict[str, Any] | None = None


class ActionObserved(Update):
    """The assistant took an action."""

    message_type: Literal["update_action_observed"] = "update_action_observed"
    turn_number: PositiveInt
    timestamp: AwareDatetime
    action: str
    parameters: dict[str, Any]
    success: bool
    error_message: str | None = None
