"""The results of scenarios in a row, as the summary and the page read them."""

from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, JsonValue, TypeAdapter, ValidationError

from concord.assessment.result_row import Detail

_Points = Annotated[float, Field(ge=0, le=1e9)]


class _Part(BaseModel):
    """A part of the results. Keys of later versions are ignored; texts may be anything."""

    model_config = ConfigDict(frozen=True, extra="ignore", allow_inf_nan=False)


class Points(_Part):
    """Points out of the possible ones."""

    score: _Points
    max_score: _Points

    @property
    def share(self) -> float:
        """The share of the possible points, from 0 to 1; 0 if none are possible."""
        return min(1.0, self.score / self.max_score) if self.max_score else 0.0


class Scores(_Part):
    """Points over all criteria, and by dimension."""

    overall: Points
    dimensions: dict[str, Points] = {}


class Criterion(_Part):
    """A criterion. `score` is None if its check failed, which `error` explains."""

    criterion_id: str
    name: str
    dimension: str
    score: _Points | None
    max_score: _Points
    explanation: str = ""
    method: str = ""
    error: str | None = None

    @property
    def lost(self) -> float:
        """The points that the assistant did not get; 0 if the check failed."""
        return 0.0 if self.score is None else max(0.0, self.max_score - self.score)


class Action(_Part):
    """An action of the assistant. `action` is `modality.operation`; `timestamp` is simulated time (ISO 8601)."""

    turn: int
    timestamp: str
    action: str
    parameters: dict[str, JsonValue] = {}
    success: bool
    error_message: str | None = None


class OtherEvent(_Part):
    """An event of somebody else. `character`: whose reply it is; None for the user's task and the scenario's events."""

    turn: int
    timestamp: str
    event: str
    sender: str | None = None
    character: str | None = None
    text: str = ""


class Turn(_Part):
    """A turn of the assistant."""

    turn: int
    started_at: str
    ended_at: str
    notes: str | None = None
    error: str | None = None


class UserFault(_Part):
    """A fault of a simulated person."""

    turn: int
    character: str
    fault: str


class ScenarioResults(_Part):
    """The results of one trial in a scenario."""

    assessment_id: str
    scenario_id: str
    status: str
    reason: str
    unjudged: bool = False
    error: str | None = None
    turns_taken: int
    actions_taken: int
    actions_omitted: int = 0
    scores: Scores
    criteria_results: list[Criterion]
    turns: list[Turn] = []
    action_log: list[Action]
    other_events: list[OtherEvent] = []
    other_events_omitted: int = 0
    user_faults: list[UserFault] = []


_RESULTS: Final = TypeAdapter(list[ScenarioResults])


def scenario_results(detail: Detail, trial_id: str | None = None) -> list[ScenarioResults]:
    """The results of the row's trials in scenarios, or of one of its trials. Empty if there are none, or unreadable."""
    try:
        found = _RESULTS.validate_python(detail.assessment_results)
    except ValidationError:
        return []
    return [each for each in found if trial_id is None or each.assessment_id.endswith(f"/{trial_id}")]


def is_lone_assistant(detail: Detail) -> bool:
    """Whether the row is of one assistant, in scenarios only: no other agent is declared or was observed."""
    results = scenario_results(detail)
    return bool(results) and len(detail.agents) <= 1 and len(results) >= len(detail.trials)
