"""The responses of the environment service. The models keep fields that they do not declare."""

from datetime import datetime
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

EventStatus = Literal["pending", "executing", "executed", "failed", "skipped", "cancelled"]
Json = dict[str, Any]


class ResponseBody(BaseModel):
    """Base class of all responses."""

    model_config = ConfigDict(extra="allow", frozen=True)


class TimeState(ResponseBody):
    """The simulated clock."""

    current_time: datetime
    time_scale: float
    is_paused: bool
    auto_advance: bool
    mode: str


class Advanced(ResponseBody):
    """The outcome of advancing the clock. `time_advanced` is a text such as `1 day, 1:01:01`."""

    previous_time: datetime
    current_time: datetime
    time_advanced: str
    events_executed: int
    events_failed: int
    execution_details: list[Json]


class TimeSet(ResponseBody):
    """The outcome of setting the clock."""

    previous_time: datetime
    current_time: datetime
    skipped_events: int


class SkippedToNext(ResponseBody):
    """The outcome of moving the clock to the next event."""

    previous_time: datetime
    current_time: datetime
    events_executed: int
    next_event_time: datetime | None


class SimulationStatus(ResponseBody):
    """The status of the simulation."""

    is_running: bool
    current_time: datetime
    pending_events: int
    executed_events: int
    failed_events: int
    next_event_time: datetime | None
    chain_head: str


class KeyView(ResponseBody):
    """An API key without its secret."""

    key_id: str
    name: str
    permissions: list[str]
    created_at: datetime
    created_by: str | None


class NewKey(KeyView):
    """A new API key with its secret, which the service returns only once."""

    secret: str


class Event(ResponseBody):
    """An event: its modality, time and status. The response with one event has the action as `data`."""

    event_id: str
    scheduled_time: datetime
    modality: str
    data: Json | None
    status: EventStatus
    created_at: datetime
    executed_at: datetime | None
    agent_id: str | None
    priority: int
    error_message: str | None
    metadata: Json


class EventList(ResponseBody):
    """A page of events."""

    events: list[Event]
    total: int
    pending: int
    executed: int
    failed: int


class BatchResult(ResponseBody):
    """The outcome of a batch: the counts of created events, or with `validate_only` those of valid ones."""

    total_submitted: int = 0
    total_created: int = 0
    total_failed: int = 0
    total_valid: int = 0
    total_invalid: int = 0
    events: list[Json]


class ActionResult(ResponseBody):
    """The event of an action."""

    event_id: str
    scheduled_time: datetime
    status: EventStatus
    message: str
    modality: str


class State(ResponseBody):
    """The fields that the states of all modalities share."""

    modality_type: str
    current_time: datetime
    update_count: int


class Found(ResponseBody):
    """The fields that all responses to queries share."""

    total_count: int
    returned_count: int


class Email(ResponseBody):
    """An email."""

    message_id: str
    thread_id: str
    from_address: str
    to_addresses: list[str]
    cc_addresses: list[str]
    subject: str
    body_text: str
    in_reply_to: str | None
    references: list[str]
    sent_at: datetime
    received_at: datetime
    is_read: bool
    is_starred: bool
    folder: str
    labels: list[str]


class EmailState(State):
    """The mailbox, latest emails first. `has_more` says whether a `limit` left emails out."""

    user_email_address: str
    total_email_count: int
    total_threads: int
    unread_count: int
    draft_count: int
    emails: dict[str, Email]
    threads: dict[str, Json]
    folders: dict[str, list[str]]
    has_more: bool


class FoundEmails(Found):
    """The emails that match a query."""

    emails: list[Email]


class SMSMessage(ResponseBody):
    """A text message."""

    message_id: str
    thread_id: str
    from_number: str
    to_numbers: list[str]
    body: str
    direction: Literal["incoming", "outgoing"]
    sent_at: datetime
    is_read: bool


class SMSState(State):
    """The text messages, latest first. `has_more` says whether a `limit` left messages out."""

    user_phone_number: str
    total_message_count: int
    total_conversation_count: int
    unread_count: int
    messages: dict[str, SMSMessage]
    conversations: dict[str, Json]
    has_more: bool


class FoundMessages(Found):
    """The text messages that match a query."""

    messages: list[SMSMessage]


class ChatMessage(ResponseBody):
    """A chat message."""

    message_id: str
    conversation_id: str
    role: Literal["user", "assistant"]
    content: str | list[Json]
    timestamp: datetime


class ChatState(State):
    """The chat messages, oldest first. `has_more` says whether a `limit` left messages out."""

    messages: list[ChatMessage]
    conversations: dict[str, Json]
    total_message_count: int
    conversation_count: int
    has_more: bool


class FoundChat(Found):
    """The chat messages that match a query."""

    messages: list[ChatMessage]


class CalendarEvent(ResponseBody):
    """A calendar event or a series."""

    event_id: str
    calendar_id: str
    title: str
    start: datetime
    end: datetime
    location: str | None
    status: str
    organizer: str | None
    attendees: list[Json]
    recurrence: Json | None
    sequence: int


class CalendarState(State):
    """The calendars, and the events by start. `has_more` says whether a `limit` left events out."""

    calendars: dict[str, Json]
    events: dict[str, CalendarEvent]
    calendar_count: int
    event_count: int
    events_today: int
    has_more: bool


class FoundEvents(Found):
    """The calendar events that match a query."""

    events: list[CalendarEvent]


class ImportReport(ResponseBody):
    """The result of an import."""

    success: bool
    events_loaded: int
    modalities_loaded: list[str]
    modalities_skipped: list[str]
    warnings: list[str]
    current_time: datetime
