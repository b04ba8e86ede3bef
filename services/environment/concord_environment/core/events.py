"""Events: an action, its due time and its outcome.

`Event` is the row of a simulation's table, `EventRecord` its JSON form in scenario files.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, JsonValue, PlainSerializer, TypeAdapter

from concord_environment.core.actions import Action
from concord_environment.core.rows import row

DEFAULT_PRIORITY: Final = 50
MAX_PRIORITY: Final = 100
CAUSED_BY: Final = "caused_by"
"""The field of an event's metadata with the id of the event whose action scheduled it."""
IGNORED: Final = "ignored_ids"
"""The field of an event's metadata with the ids in its action that name no row."""


class EventStatus(StrEnum):
    """The status of an event. Every status except `pending` and `executing` is final."""

    PENDING = "pending"
    EXECUTING = "executing"
    EXECUTED = "executed"
    FAILED = "failed"
    SKIPPED = "skipped"
    CANCELLED = "cancelled"


@row
class Event:
    """An action and its due time. Of events due together, the higher priority comes first, then the lower sequence."""

    event_id: str
    sequence: int
    scheduled_time: datetime
    action: Annotated[Action, PlainSerializer(Action.as_data)]
    created_at: datetime
    agent_id: str | None
    priority: int
    status: EventStatus
    executed_at: datetime | None
    error_message: str | None
    metadata: dict[str, Any]

    @property
    def modality(self) -> str:
        """The modality that the action belongs to."""
        return self.action.modality

    def ended(
        self,
        status: EventStatus,
        at: datetime | None,
        error_message: str | None = None,
        ignored: Sequence[str] = (),
    ) -> Self:
        """A copy of the event in another status. `ignored` are the ids in the action that name no row."""
        # dataclasses.replace takes four times as long.
        return type(self)(
            self.event_id,
            self.sequence,
            self.scheduled_time,
            self.action,
            self.created_at,
            self.agent_id,
            self.priority,
            status,
            at,
            error_message,
            {**self.metadata, IGNORED: list(ignored)} if ignored else self.metadata,
        )


class EventRecord(BaseModel):
    """The JSON form of an event: the fields of `Event` except `sequence`, with the action as `modality` and `data`."""

    event_id: str
    scheduled_time: datetime
    modality: str
    data: dict[str, JsonValue]
    status: EventStatus
    created_at: datetime
    executed_at: datetime | None
    agent_id: str | None
    priority: int
    error_message: str | None
    metadata: dict[str, JsonValue]


_SHARED: Final = tuple(field.name for field in fields(Event) if field.name in EventRecord.model_fields)


def as_record(event: Event) -> dict[str, Any]:
    """The fields of an event's `EventRecord`."""
    shared = {name: getattr(event, name) for name in _SHARED}
    return {**shared, "modality": event.modality, "data": event.action.as_data()}


def from_record(record: Mapping[str, Any], sequence: int, action: Action) -> Event:
    """The event of a record, whose `modality` and `data` describe `action`."""
    return Event(sequence=sequence, action=action, **{name: record[name] for name in _SHARED})


@dataclass(frozen=True, slots=True)
class Submission:
    """An action to schedule."""

    action: Action
    due: datetime
    agent_id: str | None = None
    priority: int = DEFAULT_PRIORITY
    metadata: dict[str, Any] = field(default_factory=dict)


_EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def digest(event: Event) -> bytes:
    """The part of an event that enters the hash chain: the whole event when scheduled, later only its outcome."""
    if event.status is EventStatus.PENDING:
        return _EVENT.dump_json(event)
    return f"{event.status}\n{event.error_message}".encode()
