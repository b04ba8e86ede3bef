"""The sampled office: invented people, their mails, text messages and appointments, and the values in them."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from concord.suite import Draw
from concord_assistant.office.plan import Desk, FormField, KnownFact, PlannedReaction, ValueKind

Item = dict[str, Any]

_ONSETS: Final = ("Br", "D", "Fl", "G", "H", "J", "K", "L", "M", "N", "P", "Qu", "R", "S", "T", "V", "W", "Y", "Z")
_MIDDLES: Final = ("al", "am", "ek", "el", "en", "ev", "il", "in", "ol", "or", "un", "ur", "yn", "ov")
_FIRST_ENDS: Final = ("a", "e", "o", "is", "an", "ia", "eth", "us")
_LAST_ENDS: Final = ("berg", "dahl", "ecker", "holt", "mere", "quist", "strand", "vik", "wood", "zell")
_COMPANIES: Final = (
    "alderpoint", "birchworks", "cobaltline", "dunefield", "elmcrest", "fernhaven", "graniteway", "heronlake",
    "ivorygate", "junipermill", "kestrelbay", "larkfield",
)  # fmt: skip
_LETTERS: Final = "ABCDEFGHJKLMNPRSTUVWXYZ"


@dataclass(frozen=True)
class OfficePerson:
    """Somebody in the office's world. `company`: the first label of the domain."""

    first: str
    last: str
    company: str
    phone: str

    @property
    def name(self) -> str:
        """First and last name."""
        return f"{self.first} {self.last}"

    @property
    def email(self) -> str:
        """The address."""
        return f"{self.first}.{self.last}@{self.company}.example".casefold()


@dataclass
class Office:
    """One office before its day begins. Errands plant their items in it; every value that they draw is unique.

    `start`: the beginning of the day. Items are dictionaries as the environment imports them.
    """

    draw: Draw
    start: datetime
    company: str = ""
    user: OfficePerson = field(init=False)
    emails: dict[str, Item] = field(default_factory=dict)
    texts: dict[str, Item] = field(default_factory=dict)
    events: dict[str, Item] = field(default_factory=dict)
    contacts: list[Item] = field(default_factory=list)
    late: list[Item] = field(default_factory=list)
    """Events of the day."""
    facts: list[KnownFact] = field(default_factory=list)
    desks: list[Desk] = field(default_factory=list)
    reactions: list[PlannedReaction] = field(default_factory=list)
    flaky: bool = False
    """Whether the environment refuses some calls of this day before it executes them."""
    _names: set[str] = field(default_factory=set)
    _values: set[str] = field(default_factory=set)
    _busy: set[datetime] = field(default_factory=set)
    _counter: int = 0

    def __post_init__(self) -> None:
        """Draws the company, if none is given, and the user."""
        self.company = self.company or self.draw.choice(_COMPANIES)
        self.user = self.colleague()

    def of_colleague(self) -> "Office":
        """The office of a new colleague: items of its own, and no name or value that this office has."""
        return Office(self.draw, self.start, self.company, _names=self._names, _values=self._values)

    # People

    def colleague(self) -> OfficePerson:
        """A new person of the user's company."""
        return self.person(self.company)

    def person(self, company: str | None = None, *, first: str | None = None, last: str | None = None) -> OfficePerson:
        """A new person, by default of another company."""
        others = [each for each in _COMPANIES if each != self.company]
        while True:
            given = first or self._name(_FIRST_ENDS)
            family = last or self._name(_LAST_ENDS)
            if f"{given} {family}" not in self._names:
                self._names.add(f"{given} {family}")
                return OfficePerson(given, family, company or self.draw.choice(others), self._phone())

    def namesake(self, person: OfficePerson) -> OfficePerson:
        """A new person of the same name in a third company."""
        others = [each for each in _COMPANIES if each not in {self.company, person.company}]
        return OfficePerson(person.first, person.last, self.draw.choice(others), self._phone())

    def lookalike(self, person: OfficePerson) -> OfficePerson:
        """A stranger under a person's name, whose company's name has one letter twice."""
        place = self.draw.between(1, len(person.company) - 1)
        company = person.company[:place] + person.company[place - 1 :]
        return OfficePerson(person.first, person.last, company, self._phone())

    def _name(self, ends: Sequence[str]) -> str:
        return self.draw.choice(_ONSETS) + self.draw.choice(_MIDDLES) + self.draw.choice(ends)

    def _phone(self) -> str:
        return f"+49 30 555 {self._unique(lambda: f'{self.draw.between(10, 99)} {self.draw.between(1000, 9999)}')}"

    # Values

    def code(self, name: str, **times: datetime) -> KnownFact:
        """A new code such as KX-44718. `times`: in which it may be told, `opens_at` and `closes_at`."""
        return self._fact(name, "code", self._unique(self._code), **times)

    def _code(self) -> str:
        letters = self.draw.choice(_LETTERS) + self.draw.choice(_LETTERS)
        return f"{letters}-{self.draw.between(10_000, 99_999)}"

    def number(self, name: str, low: int = 10_000, high: int = 99_999) -> KnownFact:
        """A new number, of five digits by default."""
        return self._fact(name, "number", self._unique(lambda: str(self.draw.between(low, high))))

    def known(self, name: str, kind: ValueKind, text: str) -> KnownFact:
        """A fact of a value that the errand computes."""
        return self._fact(name, kind, text)

    def _fact(self, name: str, kind: ValueKind, text: str, **times: datetime) -> KnownFact:
        fact = KnownFact.model_validate({"fact_id": name, "kind": kind, "text": text, **times})
        self.facts.append(fact)
        return fact

    def _unique(self, draw: Callable[[], str]) -> str:
        """A value whose last five digits, read in either direction, are in no other one: readers of texts find both."""
        while (digits := re.sub(r"\D", "", value := draw())[-5:]) in self._values:
            pass
        self._values |= {digits, digits[::-1]}
        return value

    # Time

    def day(self, ahead: int) -> date:
        """The working day so many working days after the day's own."""
        found = self.start.date()
        while ahead:
            found += timedelta(days=1)
            ahead -= found.weekday() < 5
        return found

    def at(self, day: date, hour: int, minute: int = 0) -> datetime:
        """A time of a day, in UTC."""
        return datetime(day.year, day.month, day.day, hour, minute, tzinfo=self.start.tzinfo)

    def free_hour(self, low: int = 3, high: int = 15, *, weeks: int = 1) -> datetime:
        """A full hour that no errand uses, from 9 to 17 on a working day so many days ahead. It is used from now on.

        `weeks`: of a weekly series, the number of its dates.
        """
        while True:
            found = self.at(self.day(self.draw.between(low, high)), self.draw.between(9, 16))
            dates = {found + timedelta(weeks=each) for each in range(weeks)}
            if not dates & self._busy:
                self._busy |= dates
                return found

    def use(self, moment: datetime) -> bool:
        """Whether an hour was free. It is used from now on."""
        free = moment not in self._busy
        self._busy.add(moment)
        return free

    # Items

    def mail(
        self,
        sender: OfficePerson,
        subject: str,
        body: str,
        *,
        ago: timedelta | None = None,
        to: Sequence[OfficePerson] = (),
        cc: Sequence[OfficePerson] = (),
        replies_to: str | None = None,
        html: str | None = None,
        attachments: Sequence[str] = (),
    ) -> str:
        """Plants an email that arrived before the day, by default to the user in the last days. Returns its id."""
        at = self.start - (ago or timedelta(minutes=self.draw.between(20, 4_000)))
        message_id = self._id(sender.company, "mail")
        item = self._email(sender, subject, body, to, cc)
        sent = sender == self.user
        self.emails[message_id] = item | {
            "message_id": message_id,
            "thread_id": self.emails[replies_to]["thread_id"] if replies_to else message_id,
            "in_reply_to": replies_to,
            "sent_at": _text(at),
            "received_at": _text(at),
            "is_read": sent or self.draw.chance(0.6),
            "folder": "sent" if sent else "inbox",
            "body_html": html,
            "attachments": [
                {"attachment_id": f"{message_id}-{each}", "filename": each, "size": 1000, "mime_type": "text/plain"}
                for each in attachments
            ],
        }
        return message_id

    def late_mail(
        self, sender: OfficePerson, subject: str, body: str, *, after: timedelta, cc: Sequence[OfficePerson] = ()
    ) -> str:
        """Plans an email that arrives so long after the day's beginning. Returns its id."""
        message_id = self._id(sender.company, "mail")
        data = {"operation": "receive", "message_id": message_id, **self._email(sender, subject, body, (), cc)}
        self._later(after, "email", data)
        return message_id

    def text(self, sender: OfficePerson, body: str, *, ago: timedelta | None = None) -> str:
        """Plants a text message that the user got before the day. Returns its id."""
        at = _text(self.start - (ago or timedelta(minutes=self.draw.between(20, 2_000))))
        message_id = self._id(sender.company, "text")
        self.texts[message_id] = {
            "message_id": message_id,
            "thread_id": f"thread-{sender.phone}",
            "from_number": sender.phone,
            "to_numbers": [self.user.phone],
            "body": body,
            "direction": "incoming",
            "sent_at": at,
            "is_read": False,
        }
        return message_id

    def late_text(self, sender: OfficePerson, body: str, *, after: timedelta) -> str:
        """Plans a text message that arrives so long after the day's beginning. Returns its id."""
        message_id = self._id(sender.company, "text")
        content = {"from_number": sender.phone, "to_numbers": [self.user.phone], "body": body}
        self._later(after, "sms", {"operation": "receive_message", "message_id": message_id, **content})
        return message_id

    def late_chat(self, content: str, *, after: timedelta) -> None:
        """Plans a chat message of the user."""
        data = {"operation": "send_message", "role": "user", "content": content, "conversation_id": "user-assistant"}
        self._later(after, "chat", data)

    def event(
        self,
        title: str,
        start: datetime,
        *,
        minutes: int = 60,
        guests: Sequence[OfficePerson] = (),
        organizer: OfficePerson | None = None,
        **more: Any,  # noqa: ANN401 - fields of an event
    ) -> str:
        """Plants an appointment, which the user organises unless somebody else does. Returns its id."""
        event_id = self._id(self.company, "event")
        who = organizer or self.user
        people = [*([] if organizer is None else [who, self.user]), *guests]
        self._busy.add(start)
        self.events[event_id] = {
            "event_id": event_id,
            "calendar_id": "primary",
            "title": title,
            "start": _text(start),
            "end": _text(start + timedelta(minutes=minutes)),
            "organizer": who.email,
            "attendees": [
                {"email": each.email, "response": "needs-action" if each == self.user else "accepted"}
                for each in people
            ],
            "created_at": _text(self.start - timedelta(days=20)),
            "updated_at": _text(self.start - timedelta(days=20)),
            **more,
        }
        return event_id

    def contact(self, person: OfficePerson, note: str = "") -> None:
        """Plants an entry of the address book."""
        self.contacts.append({"person": person, "note": note})

    def desk(self, name: str, person: OfficePerson, title: str, fields: Sequence[FormField], **more: Any) -> Desk:  # noqa: ANN401 - fields of a desk
        """A person who takes forms. `fields`: the first one is the reference."""
        made = Desk(
            desk_id=name, address=person.email, title=title, fields=list(fields), reference=fields[0].name, **more
        )
        self.desks.append(made)
        return made

    def react(self, name: str, after: timedelta, modality: str, data: Mapping[str, Any], **cause: str) -> None:
        """Plans what the assistant's first action of a kind causes: `on`, with `desk` or `address`."""
        self.reactions.append(
            PlannedReaction.model_validate(
                {"reaction_id": name, "after": after, "modality": modality, "data": dict(data), **cause}
            )
        )

    def received(self, sender: OfficePerson, subject: str, body: str) -> Item:
        """The data of an email to the user, for a reaction."""
        return {"operation": "receive", **self._email(sender, subject, body, (), ())}

    def append(self, message_id: str, text: str) -> None:
        """Adds a paragraph to a planted or a planned message."""
        late = (each["data"] for each in self.late if each["data"].get("message_id") == message_id)
        item = self.emails.get(message_id) or self.texts.get(message_id) or next(late)
        name = "body" if "body" in item else "body_text"
        item[name] = f"{item[name]}\n\n{text}"

    def facts_known(self) -> list[KnownFact]:
        """The facts, each with all who wrote or got an item that has it."""
        items = list(self._items())
        return [
            each.model_copy(
                update={"known_to": sorted({who for text, people in items if each.text in text for who in people})}
            )
            for each in self.facts
        ]

    def _items(self) -> Iterator[tuple[str, set[str]]]:
        reactions = ({"data": each.data} for each in self.reactions)
        desks = ({"from_address": each.address, "body_text": each.confirmation} for each in self.desks)
        planted = (*self.emails.values(), *self.texts.values(), *self.events.values())
        for item in (*planted, *self.late, *reactions, *desks):
            data = item.get("data", item)
            people = {data.get("from_address"), data.get("from_number"), data.get("organizer")}
            for name in ("to_addresses", "cc_addresses", "to_numbers"):
                people |= set(data.get(name) or ())
            people |= {each["email"] for each in data.get("attendees") or ()}
            yield str(data), {str(each) for each in people if each}

    def _email(
        self,
        sender: OfficePerson,
        subject: str,
        body: str,
        to: Sequence[OfficePerson],
        cc: Sequence[OfficePerson],
    ) -> Item:
        return {
            "from_address": sender.email,
            "to_addresses": [each.email for each in to or (self.user,)],
            "cc_addresses": [each.email for each in cc],
            "subject": subject,
            "body_text": f"{body}\n\n{sender.first}",
        }

    def _later(self, after: timedelta, modality: str, data: Item) -> None:
        self.late.append(
            {"scheduled_time": _text(self.start + after), "modality": modality, "priority": 50, "data": data}
        )

    def _id(self, company: str, kind: str) -> str:
        self._counter += 1
        return f"{kind}-{self._counter:03}-{self.draw.between(1000, 9999)}@{company}.example"


def _text(moment: datetime) -> str:
    return moment.isoformat().replace("+00:00", "Z")
