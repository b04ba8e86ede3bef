"""The messages of the assessment protocol as an assistant receives and answers them (docs/assistants.md)."""

from typing import Annotated, Any, Final, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, HttpUrl, JsonValue, PositiveInt, TypeAdapter

MAX_NOTES: Final = 10_000
"""Characters of notes or of a reason."""


class _Message(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class AssessmentStart(_Message):
    """The address of the user's environment and the key for it."""

    message_type: Literal["assessment_start"]
    ues_url: HttpUrl
    api_key: Annotated[str, Field(repr=False)]
    assessment_instructions: str = ""
    current_time: AwareDatetime


class TurnStart(_Message):
    """The beginning of a turn."""

    message_type: Literal["turn_start"]
    turn_number: PositiveInt
    current_time: AwareDatetime
    events_processed: int = 0


class AssessmentComplete(_Message):
    """The end of the assessment."""

    message_type: Literal["assessment_complete"]
    reason: str = ""


Incoming = AssessmentStart | TurnStart | AssessmentComplete

INCOMING: Final[TypeAdapter[Incoming]] = TypeAdapter(Annotated[Incoming, Field(discriminator="message_type")])
"""Parses a message. Raises pydantic.ValidationError."""


def message_in(data_parts: tuple[JsonValue, ...]) -> JsonValue:
    """The data part that is a message of the protocol. None if there is none."""
    return next((data for data in data_parts if isinstance(data, dict) and "message_type" in data), None)


class TurnComplete(_Message):
    """Ends a turn. Time then moves by `time_step` (ISO 8601), by default the scenario's step."""

    message_type: Literal["turn_complete"] = "turn_complete"
    notes: str | None = None
    time_step: str | None = None


class EarlyCompletion(_Message):
    """Ends the assessment, because the assistant has finished."""

    message_type: Literal["early_completion"] = "early_completion"
    reason: str | None = None


Reply = TurnComplete | EarlyCompletion


def reply_data(reply: Reply) -> dict[str, Any]:
    """The reply as the content of a data part, with shortened texts."""
    data = reply.model_dump(mode="json", exclude_none=True)
    return {name: value[:MAX_NOTES] for name, value in data.items()}
