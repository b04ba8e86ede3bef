"""Scenarios as documents: metadata, the environment with its time and modalities, and events."""

from datetime import datetime
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, JsonValue

from concord_environment.core.events import DEFAULT_PRIORITY, EventStatus
from concord_environment.modalities.fields import JsonObject, Line, Moment

SCENARIO_VERSION: Final = "1"


class ScenarioMetadata(BaseModel):
    """What a scenario is, and who wrote it."""

    ues_version: Annotated[str, Field(max_length=50)] = "0.1.0"
    scenario_version: Annotated[str, Field(max_length=20)] = SCENARIO_VERSION
    created_at: Moment
    author: Line | None = None
    description: Line | None = None


class TimeStateDocument(BaseModel):
    """The clock. `last_wall_time_update` is there for the format's sake: nothing here reads a wall clock."""

    current_time: Moment
    time_scale: Annotated[float, Field(gt=0, le=1_000_000, allow_inf_nan=False)] = 1.0
    is_paused: bool = False
    auto_advance: bool = False
    last_wall_time_update: Moment | None = None


class EnvironmentDocument(BaseModel):
    """The clock and the state of every modality."""

    time_state: TimeStateDocument
    modality_states: dict[str, dict[str, Any]]


class EventDocument(BaseModel):
    """An event. Without an id it gets one."""

    event_id: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    scheduled_time: Moment
    modality: Annotated[str, Field(max_length=50)]
    data: dict[str, JsonValue]
    status: EventStatus = EventStatus.PENDING
    created_at: Moment | None = None
    executed_at: Moment | None = None
    agent_id: Annotated[str | None, Field(max_length=200)] = None
    priority: Annotated[int, Field(ge=0, le=100)] = DEFAULT_PRIORITY
    error_message: Line | None = None
    metadata: JsonObject = Field(default_factory=dict)


class EventsDocument(BaseModel):
    """Events, in the order in which they were made: of two at one time the first comes first."""

    events: Annotated[list[EventDocument], Field(max_length=200_000)] = []


class ScenarioDocument(BaseModel):
    """A whole scenario."""

    metadata: ScenarioMetadata
    environment: EnvironmentDocument
    events: EventsDocument = EventsDocument()


HistoricEvents = Literal["ignore", "delete", "apply"]


class ImportReport(BaseModel):
    """What was loaded."""

    success: bool
    environment_loaded: bool
    events_loaded: int
    modalities_loaded: list[str]
    modalities_skipped: list[str]
    warnings: list[str]
    current_time: datetime
    scenario_metadata: ScenarioMetadata | None
