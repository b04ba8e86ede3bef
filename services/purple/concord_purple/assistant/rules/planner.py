"""The rule-based assistant's plan: performs tasks as soon as they can be performed, waits for answers, and reports."""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from concord_environment_client import AsyncUESClient

from concord_purple.assistant.messages import EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.rules import actions
from concord_purple.assistant.rules.desk import Desk, moment, open_desk, rfc3339
from concord_purple.assistant.rules.people import Person
from concord_purple.assistant.rules.tasks import Reading, Task, read_task
from concord_purple.assistant.rules.times import Interval, free_starts
from concord_purple.assistant.tools import TOOLS

MAX_WAIT_TURNS: Final = 12
"""Turns without progress after which the assistant gives up."""

MAX_REPORT: Final = 600
"""Characters of the report to the user."""

_REFUSAL: Final = re.compile(
    r"\b(cannot|can't|can not|unfortunately|not possible|not available|another time|doesn't|does not|won't|busy|"
    r"sorry)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Proposal:
    """A time that was proposed to a person, and when."""

    span: Interval
    made_at: datetime


@dataclass(slots=True)
class RuleAssistant:
    """Performs the tasks that rules can read in the chat."""

    _waiting: list[Task] = field(default_factory=list)
    _readings: list[Reading] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)
    _done: list[str] = field(default_factory=list)
    _proposals: dict[str, Proposal] = field(default_factory=dict)
    """The latest proposal by the person's address."""
    _idle_turns: int = 0

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs what can be performed now. Raises UESClientError."""
        desk = await open_desk(ues, turn.current_time)
        self._read_chat(desk)
        waiting: list[Task] = []
        done = len(self._done)
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
            if message["role"] == "user" and message["message_id"] not in self._read and isinstance(text, str):
                self._read.add(message["message_id"])
                reading = read_task(text, desk.people(text), desk.now, desk.zone)
                self._readings.append(reading)
                self._waiting += reading.tasks

    async def _perform(self, task: Task, desk: Desk) -> bool:
        """Performs a task. Returns False if it has to wait, or to be repeated."""
        if task.after is not None and not await self._agreed(task.after, desk):
            return False
        match task.kind:
            case "propose":
                self._done += await self._propose(task, desk)
            case "enter":
                self._done += await self._enter(task, desk)
            case "write":
                self._done += await actions.write(task, desk)
            case "answer":
                facts = [fact for reading in self._readings for fact in reading.facts]
                self._done += await actions.answer(task, desk, facts)
            case "respond":
                self._done += await actions.respond(task, desk)
            case "invitations" if task.rules is not None:
                done, finished = await actions.answer_invitations(task.rules, desk)
                self._done += done
                return finished
            case "forward":
                self._done += (done := await actions.forward(task, desk))
                return bool(done)
            case "file":
                self._done += await actions.file(task, desk)
                return task.until is None or desk.now >= task.until
            case "remind":
                self._done += await actions.remind(task, desk)
            case _:
                await self._report(desk)
        return True

    async def _agreed(self, person: Person, desk: Desk) -> bool:
        """Whether the person has answered without a refusal. After a refusal, proposes the next free time."""
        proposal = self._proposals.get(_key(person))
        latest = desk.latest_of(person)
        if latest is None or (proposal is not None and moment(latest["received_at"]) <= proposal.made_at):
            return False
        if proposal is None or not _REFUSAL.search(str(latest["body_text"])):
            return True
        refused = proposal.span
        midnight = datetime.combine(refused.start.date(), datetime.max.time(), refused.start.tzinfo)
        later = Interval(refused.end, midnight)
        if (span := await _free_span(later, refused, desk)) is not None:
            self._done.append(await self._send_proposal(person, span, desk))
        return False

    async def _propose(self, task: Task, desk: Desk) -> list[str]:
        [person, *_] = task.people
        if task.window is None:
            return []
        wanted = Interval(task.window.start, task.window.start + task.duration)
        span = await _free_span(task.window, wanted, desk)
        if span is None:
            return [f"I found no free time for {person.name}"]
        return [await self._send_proposal(person, span, desk)]

    async def _send_proposal(self, person: Person, span: Interval, desk: Desk) -> str:
        zone = span.start.tzname() or ""
        text = f"{span.start:%A, %d %B} at {span.start:%H:%M} {zone} suits me. Does that time suit you, too?"
        await actions.send_email(desk, person, text)
        self._proposals[_key(person)] = Proposal(span, desk.now)
        return f"I proposed {span.start:%A %H:%M} to {person.name}"

    async def _enter(self, task: Task, desk: Desk) -> list[str]:
        """Enters an event at the time that the task names, or that was proposed to the task's people."""
        people = [*task.people, *([task.after] if task.after is not None else [])]
        proposed = [found.span for person in people if (found := self._proposals.get(_key(person))) is not None]
        span = task.window or next(iter(proposed), None)
        if span is None:
            return [f"I do not know the time for this: {task.sentence}"]
        title = task.about[0] if task.about else _title(task)
        arguments: dict[str, Any] = {"title": title, "start": rfc3339(span.start), "end": rfc3339(span.end)}
        if re.search(r"\binvite\b|\bwith an invitation\b", task.sentence, re.I):
            arguments["attendees"] = [{"email": each.email} for each in task.people if each.email]
        await TOOLS["calendar_create"](desk.ues, arguments)
        return [f"“{title}” is in the calendar, {span.start:%A %H:%M}"]

    async def _report(self, desk: Desk) -> None:
        """Tells the user what was done, and which sentences no rule could read."""
        unread = [sentence for reading in self._readings for sentence in reading.unread]
        lines = [*(f"{each}." for each in self._done), *(f"I could not do this: {sentence}" for sentence in unread)]
        text = "\n".join(lines) or "There is nothing that I can do."
        await TOOLS["chat_send"](desk.ues, {"content": text[:MAX_REPORT]})


async def _free_span(window: Interval, wanted: Interval, desk: Desk) -> Interval | None:
    """The first free span in a window that is as long as another one."""
    duration = wanted.end - wanted.start
    busy = [each.span for each in await desk.busy(window)]
    start = next(free_starts(busy, window, duration), None)
    return None if start is None else Interval(start, start + duration)


def _key(person: Person) -> str:
    return (person.email or person.name).casefold()


def _title(task: Task) -> str:
    return f"Meeting with {' and '.join(each.name for each in task.people)}" if task.people else task.sentence[:80]
