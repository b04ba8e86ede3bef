"""Sends the updates of an assessment."""

from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from concord_assistant.updates import (
    ActionObserved,
    AssessmentCompleted,
    AssessmentStarted,
    CriterionEvaluated,
    ErrorOccurred,
    EvaluationStarted,
    ResponsesGenerated,
    ScenarioLoaded,
    SimulationAdvanced,
    TurnCompleted,
    TurnStarted,
    Update,
)

Send = Callable[[Update], Awaitable[None]]
U = TypeVar("U", bound=Update)


class TaskUpdateEmitter:
    """Sends the updates of one assessment, one by one.

    Beside `send`, there is a method for each kind of update, named as in ues-agentbeats. It takes the fields of the
    update, sends it and returns it, and raises pydantic.ValidationError for other fields.
    """

    def __init__(self, send: Send) -> None:
        """`send`: for example, adds the update to an A2A task."""
        self._send: Final = send

    async def send(self, update: Update) -> None:
        """Sends an update."""
        await self._send(update)

    async def assessment_started(self, **fields: Any) -> AssessmentStarted:  # noqa: ANN401 - checked by the update
        """Sends an `AssessmentStarted`."""
        return await self._made(AssessmentStarted, fields)

    async def scenario_loaded(self, **fields: Any) -> ScenarioLoaded:  # noqa: ANN401 - checked by the update
        """Sends a `ScenarioLoaded`."""
        return await self._made(ScenarioLoaded, fields)

    async def turn_started(self, **fields: Any) -> TurnStarted:  # noqa: ANN401 - checked by the update
        """Sends a `TurnStarted`."""
        return await self._made(TurnStarted, fields)

    async def turn_completed(self, **fields: Any) -> TurnCompleted:  # noqa: ANN401 - checked by the update
        """Sends a `TurnCompleted`."""
        return await self._made(TurnCompleted, fields)

    async def responses_generated(self, **fields: Any) -> ResponsesGenerated:  # noqa: ANN401 - checked by the update
        """Sends a `ResponsesGenerated`."""
        return await self._made(ResponsesGenerated, fields)

    async def simulation_advanced(self, **fields: Any) -> SimulationAdvanced:  # noqa: ANN401 - checked by the update
        """Sends a `SimulationAdvanced`."""
        return await self._made(SimulationAdvanced, fields)

    async def evaluation_started(self, **fields: Any) -> EvaluationStarted:  # noqa: ANN401 - checked by the update
        """Sends an `EvaluationStarted`."""
        return await self._made(EvaluationStarted, fields)

    async def criterion_evaluated(self, **fields: Any) -> CriterionEvaluated:  # noqa: ANN401 - checked by the update
        """Sends a `CriterionEvaluated`."""
        return await self._made(CriterionEvaluated, fields)

    async def assessment_completed(self, **fields: Any) -> AssessmentCompleted:  # noqa: ANN401 - checked by the update
        """Sends an `AssessmentCompleted`."""
        return await self._made(AssessmentCompleted, fields)

    async def error_occurred(self, **fields: Any) -> ErrorOccurred:  # noqa: ANN401 - checked by the update
        """Sends an `ErrorOccurred`."""
        return await self._made(ErrorOccurred, fields)

    async def action_observed(self, **fields: Any) -> ActionObserved:  # noqa: ANN401 - checked by the update
        """Sends an `ActionObserved`."""
        return await self._made(ActionObserved, fields)

    async def _made(self, kind: type[U], fields: dict[str, Any]) -> U:
        update = kind.model_validate(fields)
        await self.send(update)
        return update
