"""The rule-based assistant's plan: performs the tasks as soon as they can be performed, and reports."""

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Any, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from concord_environment_client import AsyncUESClient

from concord_purple.assistant.items import Item, read_items
from concord_purple.assistant.messages import EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.rules.people import Person, people_in
from concord_purple.assistant.rules.tasks import Reading, Task, content_words, read_task
from concord_purple.assistant.rules.times import Interval, free_starts
from concord_purple.assistant.tools import CONVERSATION, TOOLS

MAX_WAIT_TURNS: Final = 12
"""Turns without progress after which the assistant gives up."""

_REFUSAL: Final = re.compile(
    r"\b(cannot|can't|can not|unfortunately|not possible|not available|another time|doesn't|does not|won't|busy|sorry)\b",
    re.I,
)


@dataclass(slots=True)
class Desk:
    """The user's data at the beginning of a turn."""

    ues: AsyncUESClient
    now: datetime
    zone: tzinfo
    address: str
    emails: list[Item]
    messages: list[Item]
    events: list[Item]
    chat: list[Item]

    @property
    def inbox(self) -> list[Item]:
        """The emails of others that are neither filed nor deleted, oldest first."""
        return [each for each in self.emails if each["folder"] == "inbox" and not self.is_own(each)]

    @property
    def user_name(self) -> str:
        """The user's name, by the address."""
        return " ".join(re.split(r"[._+-]+", self.address.partition("@")[0])).title()

    def is_own(self, email: Item) -> bool:
        """Whether the user sent an email."""
        return str(email["from_address"]).casefold() == self.address.casefold()

    def latest_of(self, person: Person) -> Item | None:
        """The latest email of a person."""
        sent = [each for each in self.emails if str(each["from_address"]).casefold() == (person.email or "").casefold()]
        return sent[-1] if sent else None


@dataclass(slots=True)
class RuleAssistant:
    """Performs the tasks that rules can read in the chat."""

    _waiting: list[Task] = field(default_factory=list)
    _readings: list[Reading] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)
    _done: list[str] = field(default_factory=list)
    _proposed: dict[str, tuple[Interval, datetime]] = field(default_factory=dict)
    """By address: the proposed time, and when it was proposed."""
    _idle_turns: int = 0

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs what can be performed now. Raises UESClientError."""
        desk = await _open(ues, turn.current_time)
        self._read_chat(desk)
        waiting, done = [], len(self._done)
        for task in self._waiting:
            # The report is about the other tasks.
            blocked = task.kind == "report" and any(each.kind != "report" for each in waiting)
            if blocked or not await self._perform(task, desk):
                waiting.append(task)
        self._waiting = waiting
        self._idle_turns = 0 if len(self._done) > done else self._idle_turns + 1
        if not waiting:
            if not any(task.kind == "report" for reading in self._readings for task in reading.tasks):
                await self._report(desk)
            return EarlyCompletion(reason="; ".join(self._done) or "There is nothing that I can do.")
        if self._idle_turns > MAX_WAIT_TURNS:
            await self._report(desk)
            return EarlyCompletion(reason="I waited too long for an answer.")
        return TurnComplete(notes=f"Waiting for: {'; '.join(task.sentence for task in waiting)}")

    def _read_chat(self, desk: Desk) -> None:
        for message in desk.chat:
            text = message["content"]
            if message["role"] != "user" or message["message_id"] in self._read or not isinstance(text, str):
                continue
            self._read.add(message["message_id"])
            everybody = people_in(desk.emails, desk.events, desk.messages, text)
            people = [each for each in everybody if (each.email or "").casefold() != desk.address.casefold()]
            reading = read_task(text, people, desk.now, desk.zone)
            self._readings.append(reading)
            self._waiting += reading.tasks

    async def _perform(self, task: Task, desk: Desk) -> bool:
        """Performs a task. Returns False if it has to wait."""
        if task.after is not None and not await self._agreed(task.after, desk):
            return False
        handlers: dict[str, Callable[[Task, Desk], Awaitable[bool]]] = {
            "write": self._write,
            "propose": self._propose,
            "answer": self._answer,
            "enter": self._enter,
            "respond": self._respond,
            "forward": self._forward,
            "file": self._file,
            "remind": self._remind,
        }
        if task.kind == "report":
            await self._report(desk)
            return True
        return await handlers[task.kind](task, desk)

    async def _agreed(self, person: Person, desk: Desk) -> bool:
        """Whether the person has answered without a refusal. After a refusal, proposes the next free time."""
        proposal = self._proposed.get((person.email or "").casefold())
        latest = desk.latest_of(person)
        if latest is None or (proposal is not None and _time(latest["received_at"]) <= proposal[1]):
            return False
        if proposal is None or not _REFUSAL.search(str(latest["body_text"])):
            return True
        refused, _ = proposal
        later = Interval(refused.end, datetime.combine(refused.start.date(), datetime.max.time(), refused.start.tzinfo))
        start = next(free_starts(await _busy(desk, later), later, refused.end - refused.start), None)
        if start is not None:
            await self._send_proposal(person, Interval(start, start + (refused.end - refused.start)), desk)
        return False

    async def _propose(self, task: Task, desk: Desk) -> bool:
        [person, *_] = task.people
        window = task.window
        if window is None:
            return True
        start = next(free_starts(await _busy(desk, window), window, task.duration), None)
        if start is None:
            self._done.append(f"I found no free time for {person.name}")
            return True
        await self._send_proposal(person, Interval(start, start + task.duration), desk)
        return True

    async def _send_proposal(self, person: Person, span: Interval, desk: Desk) -> None:
        zone = span.start.tzname() or ""
        text = f"{span.start:%A, %d %B} at {span.start:%H:%M} {zone} suits me. Does that time suit you, too?"
        await self._email(desk, person, text)
        self._proposed[(person.email or "").casefold()] = (span, desk.now)
        self._done.append(f"I proposed {span.start:%A %H:%M} to {person.name}")

    async def _write(self, task: Task, desk: Desk) -> bool:
        for person in task.people:
            if (task.channel == "sms" or person.email is None) and person.phone is not None:
                await TOOLS["sms_send"](desk.ues, {"to_numbers": [person.phone], "body": task.text})
            elif person.email is not None:
                await self._email(desk, person, task.text)
            self._done.append(f"I wrote to {person.name}")
        return True

    async def _answer(self, task: Task, desk: Desk) -> bool:
        """Answers the questions in unread emails with the facts that the user states."""
        facts = [fact for reading in self._readings for fact in reading.facts]
        senders = {(person.email or "").casefold() for person in task.senders}
        for email in desk.inbox:
            asked = f"{email['subject']} {email['body_text']}"
            if (
                email["is_read"]
                or "?" not in asked
                or (senders and str(email["from_address"]).casefold() not in senders)
            ):
                continue
            fitting = [fact for fact in facts if content_words(fact) & content_words(asked)]
            if fitting:
                [person] = [
                    each
                    for each in people_in([email], (), (), "")
                    if each.email == str(email["from_address"]).casefold()
                ]
                await self._email(desk, person, " ".join(fitting), email)
                self._done.append(f"I answered {person.name}")
        return True

    async def _enter(self, task: Task, desk: Desk) -> bool:
        span = task.window
        if span is None:
            agreed = [
                self._proposed[key]
                for person in task.people
                if (key := (person.email or "").casefold()) in self._proposed
            ]
            if not agreed and task.after is not None:
                agreed = [found] if (found := self._proposed.get((task.after.email or "").casefold())) else []
            if not agreed:
                self._done.append(f"I do not know the time for: {task.sentence}")
                return True
            span = agreed[-1][0]
        title = task.about[0] if task.about else _title(task)
        arguments: dict[str, Any] = {"title": title, "start": _text(span.start), "end": _text(span.end)}
        if re.search(r"\binvite\b|\bwith an invitation\b", task.sentence, re.I):
            arguments["attendees"] = [{"email": each.email} for each in task.people if each.email]
        await TOOLS["calendar_create"](desk.ues, arguments)
        self._done.append(f"“{title}” is in the calendar, {span.start:%A %H:%M}")
        return True

    async def _respond(self, task: Task, desk: Desk) -> bool:
        asked = [each for each in desk.events if _own_response(each, desk.address) == "needs-action"]
        named = {(person.email or "").casefold() for person in task.people}
        for event in asked:
            by = str(event.get("organizer") or "").casefold()
            if (named and by in named) or _is_about(f"{event['title']}", task.about) or not (named or task.about):
                await TOOLS["calendar_respond"](desk.ues, {"event_id": event["event_id"], "response": task.action})
                self._done.append(f"I {task.action} “{event['title']}”")
        return True

    async def _forward(self, task: Task, desk: Desk) -> bool:
        found = self._emails_for(task, desk)
        for email in found[-1:]:
            arguments = {
                "to_addresses": [person.email for person in task.people if person.email],
                "subject": f"Fwd: {email['subject']}",
                "body_text": f"---------- Forwarded message ----------\nFrom: {email['from_address']}\n"
                f"Subject: {email['subject']}\n\n{email['body_text']}",
            }
            await TOOLS["email_send"](desk.ues, arguments)
            self._done.append(f"I forwarded “{email['subject']}”")
        return bool(found)

    async def _file(self, task: Task, desk: Desk) -> bool:
        if found := self._emails_for(task, desk):
            arguments: dict[str, Any] = {"message_ids": [email["message_id"] for email in found]}
            if task.action == "email_add_label":
                arguments["labels"] = [task.target]
            if task.action == "email_move":
                arguments["folder"] = task.target
            await TOOLS[task.action](desk.ues, arguments)
            self._done.append(f"I filed {len(found)} emails")
        return True

    async def _remind(self, task: Task, desk: Desk) -> bool:
        start = task.window.start if task.window else desk.now + timedelta(hours=1)
        title = f"{task.text[:1].upper()}{task.text[1:150]}"
        event = {
            "title": title,
            "start": _text(start),
            "end": _text(start + timedelta(minutes=15)),
            "reminders": [{"minutes_before": 0}],
        }
        await TOOLS["calendar_create"](desk.ues, event)
        self._done.append(f"I entered a reminder, “{title}”")
        return True

    async def _report(self, desk: Desk) -> None:
        unread = [sentence for reading in self._readings for sentence in reading.unread]
        lines = [*(f"{each}." for each in self._done), *(f"I could not do this: {sentence}" for sentence in unread)]
        await TOOLS["chat_send"](desk.ues, {"content": "\n".join(lines) or "There is nothing that I can do."})

    @staticmethod
    async def _email(desk: Desk, person: Person, text: str, answered: Item | None = None) -> None:
        """Sends an email, in reply to the person's latest one if there is one."""
        answered = answered or desk.latest_of(person)
        subject = "" if answered is None else re.sub(r"^(re: *)+", "", str(answered["subject"]), flags=re.I)
        arguments: dict[str, Any] = {
            "to_addresses": [person.email],
            "subject": f"Re: {subject}" if answered is not None else text.split(".")[0][:80],
            "body_text": f"Hello {person.first_name},\n\n{text}\n\nBest regards\n{desk.user_name}",
        }
        if answered is not None:
            arguments["in_reply_to"] = answered["message_id"]
        await TOOLS["email_send"](desk.ues, arguments)

    @staticmethod
    def _emails_for(task: Task, desk: Desk) -> list[Item]:
        """The emails in the inbox of the task's senders, or about its words."""
        senders = {(person.email or "").casefold() for person in task.senders}
        found = [each for each in desk.inbox if not senders or str(each["from_address"]).casefold() in senders]
        if task.about:
            fitting = [
                each
                for each in found
                if _is_about(f"{each['subject']} {each['from_address']} {each['body_text']}", task.about)
            ]
            return fitting or (found if senders else [])
        return found if senders else []


async def _open(ues: AsyncUESClient, now: datetime) -> Desk:
    calendar = await ues.calendar.get_state()
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


async def _busy(desk: Desk, window: Interval) -> list[Interval]:
    """The spans in which the user is busy: events that are neither cancelled, nor declined, nor transparent."""
    found = await TOOLS["calendar_query"](
        desk.ues,
        {"start": _text(window.start - timedelta(days=1)), "end": _text(window.end), "expand_recurring": True},
    )
    return [
        Interval(_time(each["start"]), _time(each["end"]))
        for each in found["events"]
        if each.get("status") != "cancelled"
        and each.get("transparency") != "transparent"
        and _own_response(each, desk.address) != "declined"
    ]


def _own_response(event: Item, address: str) -> str | None:
    for attendee in event.get("attendees") or ():
        if str(attendee.get("email") or "").casefold() == address.casefold():
            return str(attendee.get("response") or attendee.get("status") or "needs-action")
    return None


def _is_about(text: str, words: Sequence[str]) -> bool:
    """Whether a text has a quoted title as it is, or one of the words."""
    plain, found = text.casefold(), content_words(text)
    return any(word.casefold() in plain if " " in word else bool(content_words(word) & found) for word in words)


def _title(task: Task) -> str:
    return f"Meeting with {' and '.join(each.name for each in task.people)}" if task.people else task.sentence[:80]


def _time(value: object) -> datetime:
    found = datetime.fromisoformat(str(value))
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat()
