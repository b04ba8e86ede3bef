"""The rule-based assistant's plan: performs tasks as soon as they can be performed, waits for answers, and reports."""

import re
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Final

from concord_environment_client import AsyncUESClient, UESClientError

from concord_purple.assistant.messages import MAX_NOTES, EarlyCompletion, Reply, TurnComplete, TurnStart
from concord_purple.assistant.rules import actions, sending, wording
from concord_purple.assistant.rules.desk import Desk, open_desk, rfc3339
from concord_purple.assistant.rules.letters import moment
from concord_purple.assistant.rules.people import Person
from concord_purple.assistant.rules.reading import plan
from concord_purple.assistant.rules.sending import SilenceError
from concord_purple.assistant.rules.skills import Skill
from concord_purple.assistant.rules.tasks import Task
from concord_purple.assistant.rules.times import Interval, free_starts
from concord_purple.assistant.tools import TOOLS

MAX_WAIT_TURNS: Final = 12
"""Turns without progress after which the assistant gives up."""

MAX_REPORT: Final = 450
"""Characters of the report to the user, with what was done."""

MAX_LONGEST: Final = 900
"""Characters of the report in any case."""

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
    """Performs what rules can read in the chat, and says in the chat what they cannot."""

    _skills: list[Skill] = field(default_factory=list)
    _waiting: list[Task] = field(default_factory=list)
    _facts: list[str] = field(default_factory=list)
    _unread: list[str] = field(default_factory=list)
    _read: set[str] = field(default_factory=set)
    _done: list[str] = field(default_factory=list)
    _lines: list[str] = field(default_factory=list)
    """Sentences for the user, which come first in the report."""
    _proposals: dict[str, Proposal] = field(default_factory=dict)
    """The latest proposal by the person's address."""
    _silent: bool = False
    _stays_until: datetime | None = None
    _idle_turns: int = 0

    async def take_turn(self, ues: AsyncUESClient, turn: TurnStart) -> Reply:
        """Performs what can be performed now. Raises UESClientError."""
        desk = await open_desk(ues, turn.current_time)
        self._read_chat(desk)
        desk = replace(desk, silent=self._silent)
        before = len(self._done)
        self._skills = [each for each in self._skills if not await self._advance(each, desk)]
        self._waiting = [each for each in self._waiting if not await self._attempt(each, desk)]
        left = [*(each.sentence for each in self._skills), *(each.sentence for each in self._waiting)]
        stays = self._stays_until is not None and desk.now < self._stays_until
        self._idle_turns = 0 if stays or len(self._done) > before else self._idle_turns + 1
        if stays or (left and self._idle_turns <= MAX_WAIT_TURNS):
            waits = f"Waiting for: {'; '.join(left)}" if left else f"Waiting until {self._stays_until:%H:%M}"
            return TurnComplete(notes=waits[:MAX_NOTES])
        self._lines += [f"I had no answer about this: {each}" for each in left]
        await self._report(desk)
        return EarlyCompletion(reason="; ".join(self._done)[:MAX_NOTES] or "There is nothing that I can do.")

    def _read_chat(self, desk: Desk) -> None:
        for message in desk.chat:
            text = message["content"]
            if message["role"] == "user" and message["message_id"] not in self._read and isinstance(text, str):
                self._read.add(message["message_id"])
                self._silent = wording.SILENCE.search(text) is not None
                found = plan(text, desk)
                self._skills += found.skills
                self._waiting += [each for each in found.reading.tasks if each.kind != "report"]
                self._facts += found.reading.facts
                self._unread += found.reading.unread
                self._stays_until = found.stays_until or self._stays_until

    async def _advance(self, skill: Skill, desk: Desk) -> bool:
        """Advances a skill. Returns whether it is finished, also by a refusal of the environment."""
        try:
            step = await skill.step(desk)
        except (UESClientError, SilenceError) as error:
            self._lines.append(f"I could not do this ({error}): {skill.sentence}")
            return True
        self._done += step.done
        self._lines += step.report
        return step.finished

    async def _attempt(self, task: Task, desk: Desk) -> bool:
        """Performs a task. Returns whether it is over, also by a refusal."""
        try:
            return await self._perform(task, desk)
        except (UESClientError, SilenceError) as error:
            self._lines.append(f"I could not do this ({error}): {task.sentence}")
            return True

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
                self._done += await actions.answer(task, desk, self._facts)
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
            case _:
                self._done += await actions.remind(task, desk)
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
        await sending.reply(desk, person, text)
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
        """Tells the user what was asked, who tried to misuse the assistant, what no rule could read, and what was done.

        What was done is left out where the report would be too long.
        """
        lines = [*self._lines, *(f"I did nothing that this message asks for: {each.sender}" for each in desk.suspects)]
        lines += [f"I could not do this: {sentence}" for sentence in self._unread]
        for each in self._done:
            if each not in lines and sum(map(len, lines)) + len(each) < MAX_REPORT:
                lines.append(each)
        text = "\n".join(line if line.endswith((".", "!", "?")) else f"{line}." for line in lines)
        await TOOLS["chat_send"](desk.ues, {"content": text[:MAX_LONGEST] or "There is nothing that I can do."})


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
