"""The messages and invitations of a turn that the user sent to a character."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal

from pydantic import AwareDatetime, TypeAdapter

from concord_assistant.characters.models import NewMessages
from concord_assistant.characters.timing import in_utc
from concord_assistant.scenario.schema import ScenarioConfig

Modality = Literal["email", "sms", "calendar"]

_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(AwareDatetime)

_AUTOMATIC: Final = re.compile(r"\s*(auto(matic)?[- ]?(reply|response)|out of (the )?office)\b", re.I)
"""Subjects of automatic replies, to which nobody replies (RFC 3834)."""

_OPEN: Final = (None, "", "needs-action")
"""Responses of an attendee who has not responded yet."""


@dataclass(frozen=True, slots=True)
class Incoming:
    """A message or an invitation of the user, as one character received it. `sent_at` is in UTC."""

    character_id: str
    modality: Modality
    message_id: str
    """The id of the message or of the calendar event."""
    version: str
    """Tells the changes of a calendar event apart; empty for a message."""
    thread_id: str | None
    sent_at: datetime
    document: Mapping[str, Any]
    """The message or event, as the environment's client gives it."""

    @property
    def key(self) -> str:
        """Identifies the message, its version and the character."""
        return "\0".join((self.character_id, self.modality, self.message_id, self.version))

    @property
    def subject(self) -> str:
        """The subject of an email, the title of an event; empty for a text message."""
        return str(self.document.get("subject") or self.document.get("title") or "")

    @property
    def text(self) -> str:
        """The text of a message, the description of an event."""
        names = {"email": "body_text", "sms": "body", "calendar": "description"}
        return str(self.document.get(names[self.modality]) or "")


def incoming_of(new: NewMessages, scenario: ScenarioConfig, now: datetime) -> list[Incoming]:
    """What the user sent to characters, each once per character, by time. `now`: the time of items without one.

    Messages of others, drafts, automatic replies, cancelled events and events of other organisers are left out.
    """
    found = [
        *_emails(new.emails, scenario, now),
        *_messages(new.sms_messages, scenario, now),
        *_invitations(new.calendar_events, scenario, now),
    ]
    return sorted({each.key: each for each in found}.values(), key=lambda each: (each.sent_at, each.key))


def as_number(phone: str) -> str:
    """A phone number without the signs between its digits."""
    return re.sub(r"[^\d+]", "", phone)


def addresses_of(email: Mapping[str, Any]) -> set[str]:
    """The recipients of an email, in lower case."""
    fields = ("to_addresses", "cc_addresses", "bcc_addresses")
    return {str(address).casefold() for name in fields for address in email.get(name) or ()}


def _emails(emails: Iterable[Mapping[str, Any]], scenario: ScenarioConfig, now: datetime) -> Iterator[Incoming]:
    own = (scenario.user.email or "").casefold()
    for email in emails:
        recipients, folder = addresses_of(email), email.get("folder")
        # An email to oneself is in the mailbox twice.
        if own in recipients and folder == "inbox":
            continue
        if str(email.get("from_address", "")).casefold() != own or folder == "drafts":
            continue
        if _AUTOMATIC.match(str(email.get("subject") or "")):
            continue
        for character_id, profile in _others(scenario):
            if profile.email and profile.email.casefold() in recipients:
                yield _incoming(character_id, "email", email, now)


def _messages(messages: Iterable[Mapping[str, Any]], scenario: ScenarioConfig, now: datetime) -> Iterator[Incoming]:
    for message in messages:
        if message.get("direction") != "outgoing" or message.get("is_deleted"):
            continue
        recipients = {as_number(str(number)) for number in message.get("to_numbers") or ()}
        for character_id, profile in _others(scenario):
            if profile.phone and as_number(profile.phone) in recipients:
                yield _incoming(character_id, "sms", message, now)


def _invitations(events: Iterable[Mapping[str, Any]], scenario: ScenarioConfig, now: datetime) -> Iterator[Incoming]:
    own = (scenario.user.email or "").casefold()
    for event in events:
        if str(event.get("organizer") or own).casefold() != own or event.get("status") == "cancelled":
            continue
        waiting = {
            str(attendee.get("email", "")).casefold()
            for attendee in event.get("attendees") or ()
            if attendee.get("response") in _OPEN
        }
        for character_id, profile in _others(scenario):
            if profile.email and profile.email.casefold() in waiting:
                yield _incoming(character_id, "calendar", event, now)


def _others(scenario: ScenarioConfig) -> Iterator[tuple[str, Any]]:
    return ((name, each) for name, each in scenario.characters.items() if name != scenario.user_character)


def _incoming(character_id: str, modality: Modality, document: Mapping[str, Any], now: datetime) -> Incoming:
    if modality == "calendar":
        version = "|".join(str(document.get(name) or "") for name in ("sequence", "start", "end"))
        message_id, sent_at = str(document["event_id"]), document.get("updated_at")
    else:
        version, message_id, sent_at = "", str(document["message_id"]), document.get("sent_at")
    return Incoming(
        character_id=character_id,
        modality=modality,
        message_id=message_id,
        version=version,
        thread_id=document.get("thread_id"),
        sent_at=in_utc(now) if sent_at is None else min(in_utc(_MOMENT.validate_python(sent_at)), in_utc(now)),
        document=document,
    )
