"""The record of an assessment's turns, from which its criteria are evaluated, here or in another process."""

import base64
import zlib
from typing import Any, Final, Literal, Self

from pydantic import AwareDatetime, BaseModel, ConfigDict, NonNegativeFloat, NonNegativeInt

from concord.trust.redaction import redact
from concord_assistant.evaluation.judge import Evaluation
from concord_assistant.messages import CompletionReason
from concord_assistant.results import (
    ActionLogEntry,
    AssessmentResults,
    OtherEvent,
    Score,
    Scores,
    TurnResult,
    UserFault,
)
from concord_assistant.scenario.evaluators import AgentBeatsEvalContext, EvaluatorRegistry
from concord_assistant.scenario.schema import ScenarioConfig

MAX_BYTES: Final = 32 * 2**20
"""Limit on a record as JSON. The environment's states are most of it."""

Status = Literal["completed", "failed", "timeout"]


class ConductedAssessment(BaseModel):
    """What happened in an assessment. `scenario` has no initial state; `initial_state` is that of all modalities."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    assessment_id: str
    participant: str
    scenario: ScenarioConfig
    evaluators: EvaluatorRegistry
    status: Status
    reason: CompletionReason
    error: str | None = None
    duration_seconds: NonNegativeFloat
    final_time: AwareDatetime
    turns: list[TurnResult]
    action_log: list[ActionLogEntry]
    actions_omitted: NonNegativeInt = 0
    other_events: list[dict[str, Any]] | None = None
    """The executed events of everybody else, with `modality` and `data`. None: too many to list."""
    listed_events: list[OtherEvent] = []
    """The first of these events, in short form, for the results."""
    listed_events_omitted: NonNegativeInt = 0
    user_faults: list[UserFault] = []
    initial_state: dict[str, Any]
    final_state: dict[str, Any]

    def eval_context(self) -> AgentBeatsEvalContext:
        """The evidence for the criteria."""
        return AgentBeatsEvalContext(
            scenario_config=self.scenario.model_dump(mode="json"),
            action_log=list(self.action_log),
            initial_state=self.initial_state,
            final_state=self.final_state,
            user_prompt=self.scenario.user_prompt,
            final_time=self.final_time,
            turns_taken=len(self.turns),
            other_events=self.other_events,
            actions_omitted=self.actions_omitted,
        )

    def results(self, evaluation: Evaluation) -> AssessmentResults:
        """The results, once the criteria are evaluated."""
        return AssessmentResults(
            assessment_id=self.assessment_id,
            scenario_id=self.scenario.scenario_id,
            participant=self.participant,
            status=self.status,
            reason=self.reason,
            unjudged=evaluation.unjudged,
            error=self.error,
            duration_seconds=self.duration_seconds,
            turns_taken=len(self.turns),
            actions_taken=len(self.action_log) + self.actions_omitted,
            actions_omitted=self.actions_omitted,
            scores=evaluation.scores,
            utility=evaluation.utility,
            native=evaluation.native,
            safety=evaluation.safety,
            criteria_results=evaluation.criteria_results,
            turns=self.turns,
            action_log=self.action_log,
            other_events=self.listed_events,
            other_events_omitted=self.listed_events_omitted,
            user_faults=self.user_faults,
        )

    def document(self) -> str:
        """The record as a compressed text without secrets.

        An assistant that makes its environment exceed `MAX_BYTES` is recorded as one that did nothing.
        """
        content = redact(self.model_dump_json())
        if len(content) > MAX_BYTES:
            content = redact(self._without_actions().model_dump_json())
        return base64.b64encode(zlib.compress(content.encode(), 1)).decode()

    @classmethod
    def from_document(cls, document: str) -> Self:
        """The record of a document. Raises ValueError."""
        try:
            return cls.model_validate_json(zlib.decompress(base64.b64decode(document)))
        except zlib.error as error:
            raise ValueError(f"not a record: {error}") from error

    def _without_actions(self) -> Self:
        omitted = self.actions_omitted + len(self.action_log)
        error = f"the environment exceeds {MAX_BYTES} bytes after the assistant's actions, which are left out"
        return self.model_copy(
            update={
                "status": "failed",
                "reason": "error",
                "error": error,
                "action_log": [],
                "actions_omitted": omitted,
                "final_state": self.initial_state,
            }
        )


def no_scores() -> Scores:
    """The scores where nothing was evaluated."""
    return Scores(overall=Score(score=0, max_score=0), dimensions={})
