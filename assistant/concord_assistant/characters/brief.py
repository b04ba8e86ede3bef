"""What a scenario states about a character's replies: facts, rules and a calendar, in the profile's `config`."""

import re
from collections.abc import Iterator
from datetime import time
from typing import Annotated, Any, Final, Literal, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    model_validator,
)

from concord_assistant.scenario.schema import CharacterProfile

CONFIG_KEY: Final = "replies"
"""The key of the brief in a profile's `config`. Other keys are notes for the model."""

Keyword = Annotated[str, StringConstraints(min_length=1, max_length=100, strip_whitespace=True)]
Keywords = Annotated[tuple[Keyword, ...], Field(max_length=50)]
Say = Annotated[str, StringConstraints(min_length=1, max_length=2_000)]
Weekday = Literal["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
Response = Literal["accepted", "declined", "tentative"]

WORKDAYS: Final[tuple[Weekday, ...]] = ("monday", "tuesday", "wednesday", "thursday", "friday")


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"{name!r} is not a time zone") from error
    return name


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fact(_Part):
    """A fact that the character states to questions about it, and never contradicts."""

    say: Say
    """The sentence that states the fact."""
    about: Annotated[Keywords, Field(min_length=1)]
    """Words or phrases of a message that asks for the fact."""


class Rule(_Part):
    """A reply to messages with certain words: `say`, or silence without it."""

    about: Keywords = ()
    """The message has one of these words or phrases. Empty: every message."""
    unless: Keywords = ()
    """The message has none of these."""
    channels: tuple[Literal["email", "sms"], ...] = ("email", "sms")
    say: Say | None = None


class Hours(_Part):
    """Hours of weekdays, in the calendar's time zone. `until` 00:00 is midnight at the day's end."""

    days: tuple[Weekday, ...] = WORKDAYS
    start: time = Field(alias="from", default=time(0))
    end: time = Field(alias="until", default=time(0))

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.end != time(0) and self.start >= self.end:
            raise ValueError("`from` must be before `until`")
        return self


class Appointment(_Part):
    """A time at which the character is busy."""

    start: AwareDatetime
    end: AwareDatetime


class StatedCalendar(_Part):
    """When the character can meet. It decides the response to each invitation, with or without a model."""

    timezone: Annotated[str, AfterValidator(_known_zone)] = "UTC"
    free: tuple[Hours, ...] = ()
    """The hours in which the character accepts. Empty: all hours."""
    busy: tuple[Appointment | Hours, ...] = ()
    if_free: Response = "accepted"
    if_busy: Response = "declined"
    comment_if_free: Say | None = None
    comment_if_busy: Say | None = None


def _stated(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Facts by name; a fact that is only a text is about its name."""
    if not isinstance(value, dict):
        return value
    return {
        name: {"say": fact, "about": [name.replace("_", " ")]} if isinstance(fact, str) else fact
        for name, fact in value.items()
    }


class Brief(_Part):
    """The stated part of a character's behaviour, as `config.replies` of its profile."""

    enabled: bool = True
    """Whether the character replies at all."""
    model: bool = True
    """Whether a language model, if there is one, decides and words the replies that no rule decides."""
    facts: Annotated[dict[str, Fact], BeforeValidator(_stated), Field(max_length=100)] = {}
    rules: Annotated[tuple[Rule, ...], Field(max_length=100)] = ()
    """The first rule that fits a message decides its reply, with or without a model."""
    otherwise: Say | None = None
    """The reply of the rule-based character if neither a rule nor a fact fits. None: no reply."""
    calendar: StatedCalendar | None = None
    never_say: Keywords = ()
    """Words or phrases that no reply may contain."""
    max_replies: Annotated[int, Field(ge=0, le=1_000)] = 20
    """Replies within one thread of messages, or to one event."""


def brief_of(profile: CharacterProfile) -> Brief:
    """The brief in a profile's `config`, with what its `special_instructions` say in the sentences known here.

    Raises pydantic.ValidationError.
    """
    brief = Brief.model_validate((profile.config or {}).get(CONFIG_KEY) or {})
    instructions = profile.special_instructions or ""
    updates: dict[str, Any] = {}
    if rules := tuple(_rules_in(instructions)):
        updates["rules"] = (*brief.rules, *rules)
    if _SILENCE.search(instructions):
        updates["enabled"] = False
    if brief.calendar is None and (match := _INVITATIONS.search(instructions)):
        accepts = match["verb"].casefold().startswith("accept")
        updates["calendar"] = StatedCalendar(if_free="accepted" if accepts else "declined")
    return brief.model_copy(update=updates)


_ASKED: Final = re.compile(
    r"""\b(?:if|when)\s+(?:(?:you\s+are|you're|someone|anyone|anybody|somebody|they)\s+)?ask(?:s|ed)?\s+(?:you\s+)?about\s+
    (?P<about>[^,:"“]{1,200}?(?:,\s*[^,:"“]{1,60}?)*?),?\s*(?:then\s+)?
    (?:say|reply|answer|respond|tell\s+them)(?:\s+with)?:?\s+["“](?P<say>[^"”]{1,2000})["”]""",
    re.IGNORECASE | re.VERBOSE,
)
# These sentences stand alone: one with a condition or an exception is left to the model.
_SUBJECT: Final = r"(?:^|[.!;]\s+)(?:\w+\s+){0,2}?"
_SILENCE: Final = re.compile(
    _SUBJECT + r"(?:never|do not|does not|don't|doesn't)\s+(?:reply|replies|respond|responds|answers?)"
    r"(?:\s+to\s+(?:any(?:one|body|thing)?\s*)?(?:messages?|e-?mails?)?)?\s*(?:[.!;]|$)",
    re.IGNORECASE,
)
_INVITATIONS: Final = re.compile(
    _SUBJECT + r"(?P<verb>accepts?|declines?)\s+(?:all|every|any)\s+(?:meeting\s+)?invitations?\s*(?:[.!;]|$)",
    re.IGNORECASE,
)


def _rules_in(instructions: str) -> Iterator[Rule]:
    for match in _ASKED.finditer(instructions):
        about = [each.strip(" '\"") for each in re.split(r",|\bor\b|\band\b", match["about"])]
        about = [re.sub(r"^(?:the|a|an|your|his|her|their)\s+", "", each) for each in about if each]
        yield Rule(about=tuple(each for each in about if each), say=match["say"].strip())
