"""Sends the updates of an assessment."""

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta
from typing import Any, Final, Literal

from concord_assistant import updates
from concord_assistant.messages import CompletionReason
from concord_assistant.results import Dimension
from concord_assistant.updates import Update

Send = Callable[[Update], Awaitable[None]]

ErrorType = Literal[
    "timeout", "communication_error", "protocol_error", "ues_error", "evaluation_error", "internal_error"
]


class TaskUpdateEmitter:
    """Sends one update per method call. The methods take the fields of the update as keywords."""

    def __init__(self, send: Send) -> None:
        """`send`: for example, adds the update to an A2A task."""
        self._send: Final = send

    async def assessment_started(
        self, *, assessment_id: str, scenario_id: str, participant_url: str, start_time: datetime
    ) -> None:
        """The assessment began."""
        await self._send(
            updates.AssessmentStarted(
                assessment_id=assessment_id,
                scenario_id=scenario_id,
                participant_url=participant_url,
                start_time=start_time,
            )
        )

    async def scenario_loaded(
        self, *, scenario_id: str, scenario_name: str, criteria_count: int, character_count: int
    ) -> None:
        """The environment holds the scenario."""
        await self._send(
            updates.ScenarioLoaded(
                scenario_id=scenario_id,
                scenario_name=scenario_name,
                criteria_count=criteria_count,
                character_count=character_count,
            )
        )

    async def turn_started(self, *, turn_number: int, current_time: datetime, events_pending: int) -> None:
        """A turn began."""
        await self._send(
            updates.TurnStarted(turn_number=turn_number, current_time=current_time, events_pending=events_pending)
        )

    async def turn_completed(
        self,
        *,
        turn_number: int,
        actions_taken: int,
        time_advanced: timedelta,
        early_completion_requested: bool = False,
    ) -> None:
        """A turn ended."""
        await self._send(
            updates.TurnCompleted(
                turn_number=turn_number,
                actions_taken=actions_taken,
                time_advanced=time_advanced,
                early_completion_requested=early_completion_requested,
            )
        )

    async def responses_generated(
        self, *, turn_number: int, responses_count: int, characters_involved: list[str]
    ) -> None:
        """The characters' replies of a turn are scheduled."""
        await self._send(
            updates.ResponsesGenerated(
                turn_number=turn_number, responses_count=responses_count, characters_involved=characters_involved
            )
        )

    async def simulation_advanced(
        self, *, previous_time: datetime, new_time: datetime, duration: timedelta, events_processed: int
    ) -> None:
        """The simulated time advanced."""
        await self._send(
            updates.SimulationAdvanced(
                previous_time=previous_time, new_time=new_time, duration=duration, events_processed=events_processed
            )
        )

    async def evaluation_started(self, *, criteria_count: int, dimensions: list[Dimension]) -> None:
        """The evaluation began."""
        await self._send(updates.EvaluationStarted(criteria_count=criteria_count, dimensions=dimensions))

    async def criterion_evaluated(
        self,
        *,
        criterion_id: str,
        criterion_name: str,
        dimension: Dimension,
        score: float | None,
        max_score: float,
        evaluation_method: Literal["programmatic", "llm"],
    ) -> None:
        """A criterion was evaluated."""
        await self._send(
            updates.CriterionEvaluated(
                criterion_id=criterion_id,
                criterion_name=criterion_name,
                dimension=dimension,
                score=score,
                max_score=max_score,
                evaluation_method=evaluation_method,
            )
        )

    async def assessment_completed(
        self,
        *,
        reason: CompletionReason,
        total_turns: int,
        total_actions: int,
        duration_seconds: float,
        overall_score: float,
        max_score: float,
    ) -> None:
        """The assessment ended."""
        await self._send(
            updates.AssessmentCompleted(
                reason=reason,
                total_turns=total_turns,
                total_actions=total_actions,
                duration_seconds=duration_seconds,
                overall_score=overall_score,
                max_score=max_score,
            )
        )

    async def error_occurred(
        self, *, error_type: ErrorType, error_message: str, recoverable: bool, context: dict[str, Any] | None = None
    ) -> None:
        """An error occurred."""
        await self._send(
            updates.ErrorOccurred(
                error_type=error_type, error_message=error_message, recoverable=recoverable, context=context
            )
        )

    async def action_observed(
        self,
        *,
        turn_number: int,
        timestamp: datetime,
        action: str,
        parameters: dict[str, Any],
        success: bool,
        error_message: str | None = None,
    ) -> None:
        """The assistant took an action."""
        await self._send(
            updates.ActionObserved(
                turn_number=turn_number,
                timestamp=timestamp,
                action=action,
                parameters=parameters,
                success=success,
                error_message=error_message,
            )
        )
