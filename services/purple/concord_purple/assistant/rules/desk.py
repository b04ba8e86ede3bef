"""The user's data at the beginning of a turn, as the rules need them."""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from concord_environment_client import AsyncUESClient

from concord_purple.assistant.items import Item, read_items
from concord_purple.assistant.rules.letters import Letter, letters_of, misuses, moment
from concord_purple.assistant.rules.people import Person, people_in
from concord_purple.assistant.rules.times import Interval
from concord_purple.assistant.tools import CONVERSATION, TOOLS

_BULK_SENDER: Final = re.compile(r"^(news|newsletter|no-?reply|shop|offers?|marketing|promo|deals)\b", re.I)
_BULK_TEXT: Final = re.compile(
    r"unsubscribe|you receive this (?:email|newsletter)|\d+ ?% off|newsletter|weekly|read on",
    re.I,
)
_ISSUE: Final = re.compile(r"^[A-Z][\w&' ]* \d+(?::|$)")
"""The subject of a periodical: its name and the number of the issue."""
_RECEIPT: Final = re.compile(r"\b(receipt|invoice|order \d|your order|booking|confirmation)\b", re.I)


@dataclass(frozen=True, slots=True)
class Busy:
    """A span in which the user is busy: an event or one occurrence of a series."""

    event_id: str
    title: str
    span: Interval


@dataclass(frozen=True, slots=True)
class Desk:
    """The user's data at one simulated time. All items are oldest first."""

    ues: AsyncUESClient
    now: datetime
    zone: tzinfo
    address: str
    emails: list[Item]
    messages: list[Item]
    events: list[Item]
    chat: list[Item]
    silent: bool = False
    """Whether the user wants no message to be sent."""

    @property
    def inbox(self) -> list[Item]:
        """The emails of others that are neither filed nor deleted."""
        return [each for each in self.emails if each["folder"] == "inbox" and not self.is_user(each["from_address"])]

    @property
    def letters(self) -> list[Letter]:
        """The messages of others, without those that try to misuse the assistant."""
        return [each for each in letters_of(self.emails, self.messages, self.address) if not misuses(each)]

    @property
    def suspects(self) -> list[Letter]:
        """The messages that try to misuse the assistant."""
        return [each for each in letters_of(self.emails, self.messages, self.address) if misuses(each)]

    def letters_from(self, person: Person, after: datetime | None = None) -> list[Letter]:
        """The messages of a person, later than a time."""
        return [each for each in self.letters if each.is_from(person) and (after is None or each.at > after)]

    @property
    def user_name(self) -> str:
        """The user's name, by the address."""
        return " ".join(re.split(r"[._+-]+", self.address.partition("@")[0])).title()

    def is_user(self, address: object) -> bool:
        """Whether an address is the user's."""
        return str(address or "").casefold() == self.address.casefold()

    def people(self, task: str) -> list[Person]:
        """The people in the data and in a task, without the user."""
        found = people_in(self.emails, self.events, self.messages, task)
        return [each for each in found if each.email is None or not self.is_user(each.email)]

    def latest_of(self, person: Person) -> Item | None:
        """The latest email of a person."""
        address = (person.email or "").casefold()
        return next((each for each in reversed(self.emails) if str(each["from_address"]).casefold() == address), None)

    def response_to(self, event: Item) -> str | None:
        """The user's response to an invitation. None if the event is not one: the user's own, or without attendees."""
        if self.is_user(event.get("organizer")):
            return None
        for attendee in event.get("attendees") or ():
            if self.is_user(attendee.get("email")):
                return str(attendee.get("response") or "needs-action")
        return None

    async def busy(self, window: Interval) -> list[Busy]:
        """The events in a window, without cancelled, declined and transparent ones. Raises UESClientError."""
        found = await TOOLS["calendar_query"](
            self.ues,
            {
                "start": rfc3339(window.start - timedelta(days=1)),
                "end": rfc3339(window.end),
                "expand_recurring": True,
            },
        )
        return [
            Busy(str(each["event_id"]), str(each["title"]), Interval(moment(each["start"]), moment(each["end"])))
            for each in found["events"]
            if each.get("status") != "cancelled"
            and each.get("transparency") != "transparent"
            and self.response_to(each) != "declined"
        ]


async def open_desk(ues: AsyncUESClient, now: datetime) -> Desk:
    """Reads the user's data. Raises UESClientError."""
    calendar = await ues.calendar.get_state(limit=1)
    mailbox = await ues.email.get_state(limit=1)
    try:
        zone: tzinfo = ZoneInfo(getattr(calendar, "user_timezone", None) or "UTC")
    except (ZoneInfoNotFoundError, ValueError):
        zone = UTC
    chat = await read_items(ues, "chat")
    return Desk(
        ues=ues,
        now=now,
        zone=zone,
        address=mailbox.user_email_address,
        emails=await read_items(ues, "email"),
        messages=await read_items(ues, "sms"),
        events=await read_items(ues, "calendar"),
        chat=[each for each in chat if each["conversation_id"] == CONVERSATION],
    )


def is_bulk(email: Item) -> bool:
    """Whether an email is a newsletter or an advertisement, and no receipt."""
    text = f"{email['subject']} {email['body_text']}"
    sender, subject = str(email["from_address"]), str(email["subject"])
    bulk = _BULK_SENDER.search(sender) or _BULK_TEXT.search(text) or _ISSUE.search(subject)
    return bool(bulk) and not _RECEIPT.search(text)


def asks(email: Item) -> bool:
    """Whether an email asks the user something."""
    return "?" in f"{email['subject']} {email['body_text']}" and not is_bulk(email)


def rfc3339(time: datetime) -> str:
    """A time in RFC 3339, in UTC."""
    return time.astimezone(UTC).isoformat()
