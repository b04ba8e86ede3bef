"""The messages between the green agent and an assistant, as the data parts of A2A messages.

Names and fields are those of the UES assistant protocol, so an assistant written for it can be assessed unchanged.
"""

from datetime import timedelta
from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, NonNegativeInt, PositiveInt, TypeAdapter

from concord_assistant.durations import Duration

ASSESSMENT_INSTRUCTIONS: Final = (
    "Act as the user's personal assistant. The user's specific tasks are provided via "
    "the chat modality; read chat and complete those tasks."
)
"""The only instructions that `assessment_start` carries. Part of the protocol: its clients compare the text."""

MAX_NOTES: Final = 10_000
"""Characters of an assistant's notes or reason."""


class Message(BaseModel):
    """A message of the protocol, told apart by `message_type`."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    def data(self) -> dict[str, Any]:
        """The message as the content of a data part."""
        return self.model_dump(mode="json")


class EmailSummary(Message):
    """Counts of the user's mailbox."""

    message_type: Literal["email_summary"] = "email_summary"
    total_emails: NonNegativeInt
    total_threads: NonNegativeInt
    unread: NonNegativeInt
    draft_count: NonNegativeInt


class CalendarSummary(Message):
    """Counts of the user's calendars. `events_today` counts by the user's time zone."""

    message_type: Literal["calendar_summary"] = "calendar_summary"
    event_count: NonNegativeInt
    calendar_count: NonNegativeInt
    events_today: NonNegativeInt


class SMSSummary(Message):
    """Counts of the user's text messages."""

    message_type: Literal["sms_summary"] = "sms_summary"
    total_messages: NonNegativeInt
    total_conversations: NonNegativeInt
    unread: NonNegativeInt


class ChatSummary(Message):
    """Counts of the chat between the user and the assistant."""

    message_type: Literal["chat_summary"] = "chat_summary"
    total_messages: NonNegativeInt
    conversation_count: NonNegativeInt


class InitialStateSummary(Message):
    """Counts of all core modalities when the assessment starts."""

    message_type: Literal["initial_state_summary"] = "initial_state_summary"
    email: EmailSummary
    calendar: CalendarSummary
    sms: SMSSummary
    chat: ChatSummary


class AssessmentStartMessage(Message):
    """Tells an assistant where its environment is. The task itself is in the chat."""

    message_type: Literal["assessment_start"] = "assessment_start"
    ues_url: str
    """Reachable from the assistant."""
    api_key: str = Field(repr=False)
    assessment_instructions: Literal[
        "Act as the user's personal assistant. The user's specific tasks are provided via "
        "the chat modality; read chat and complete those tasks."
    ] = ASSESSMENT_INSTRUCTIONS
    current_time: AwareDatetime
    initial_state_summary: InitialStateSummary


class TurnStartMessage(Message):
    """Begins a turn. `events_processed`: the events that the environment executed since the last turn."""

    message_type: Literal["turn_start"] = "turn_start"
    turn_number: PositiveInt
    current_time: AwareDatetime
    events_processed: NonNegativeInt


class AssessmentCompleteMessage(Message):
    """Ends the assessment; the assistant's API key is revoked afterwards."""

    message_type: Literal["assessment_complete"] = "assessment_complete"
    reason: "CompletionReason"


class TurnCompleteMessage(Message):
    """Ends a turn; the simulated time advances by `time_step`."""

    message_type: Literal["turn_complete"] = "turn_complete"
    notes: Annotated[str, Field(max_length=MAX_NOTES)] | None = None
    time_step: Duration = timedelta(hours=1)


class EarlyCompletionMessage(Message):
    """Ends the assessment, because the assistant has finished."""

    message_type: Literal["early_completion"] = "early_completion"
    reason: Annotated[str, Field(max_length=MAX_NOTES)] | None = None


CompletionReason = Literal["scenario_complete", "early_completion", "timeout", "error"]

Reply = TurnCompleteMessage | EarlyCompletionMessage
"""An assistant's answer to `turn_start`."""

REPLY: Final[TypeAdapter[Reply]] = TypeAdapter(Annotated[Reply, Field(discriminator="message_type")])
"""Parses a reply. Raises ValidationError."""
