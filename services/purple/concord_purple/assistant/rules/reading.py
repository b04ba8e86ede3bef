"""Reads a message of the user: skills for the matters that they cover, and tasks for the remaining sentences."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from concord_purple.assistant.rules import cancelling, entries, matters, moving, polls, receipts, standing, wording
from concord_purple.assistant.rules.desk import Desk
from concord_purple.assistant.rules.invitations import invitation_rules
from concord_purple.assistant.rules.skills import Found, Message, Skill, message_of
from concord_purple.assistant.rules.tasks import Reading, read_task
from concord_purple.assistant.rules.times import clock_times_in

_AGAIN: Final = re.compile(r"\b(?:check|look|see)\b[^.]*\bagain\b", re.I)
_SUSPICION: Final = re.compile(
    r"\b(?:bank details|tries? to|suspicious|phishing|fraud|trick|such e?-?mails?|get something out of)\b", re.I
)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a message asks for. `stays_until`: the assistant does not finish earlier."""

    skills: tuple[Skill, ...]
    reading: Reading
    stays_until: datetime | None


def plan(text: str, desk: Desk) -> Plan:
    """Reads a message of the user. Each sentence is covered by one skill, or read as tasks."""
    message = message_of(text, desk.people(text), desk.now, desk.zone)
    report_at = standing.report_time(message)
    skills: list[Skill] = []
    covered: set[int] = set()
    rest: list[str] = []
    for found in _skills(message, report_at):
        if not found.covered & covered:
            skills.append(found.skill)
            covered |= found.covered
            rest += found.left
    rest += [each for number, each in enumerate(message.sentences) if number not in covered and not _is_covered(each)]
    left = "\n".join(f"{each[:1].upper()}{each[1:]}" for each in rest)
    reading = read_task(left, message.people, message.now, message.zone)
    rules = invitation_rules(text, message.people) if report_at is not None else None
    if rules is not None and report_at is not None:
        skills.append(standing.StandingInvitations("the invitations", rules, report_at))
        tasks = tuple(each for each in reading.tasks if each.kind != "invitations")
        reading = Reading(tasks, reading.facts, reading.unread)
    return Plan(tuple(skills), reading, report_at or _stays_until(message))


def _skills(message: Message, report_at: datetime | None) -> list[Found]:
    """The skills that a message asks for. Of two that cover the same sentence, the first one counts."""
    single = (polls.read, moving.read, receipts.read, cancelling.read_booking, cancelling.read_deletion)
    found = [each for read in single if (each := read(message)) is not None]
    return [*standing.read(message, report_at), *found, *entries.read(message), *matters.read(message)]


def _is_covered(sentence: str) -> bool:
    """Whether the planner itself follows a sentence: it returns, reports misuse, and writes as people do."""
    return any(pattern.search(sentence) for pattern in (_AGAIN, _SUSPICION, wording.FORMAT))


def _stays_until(message: Message) -> datetime | None:
    """The last time at which the user wants the assistant to look again."""
    times = [time for each in message.sentences if _AGAIN.search(each) for time in clock_times_in(each)]
    return datetime.combine(message.today, max(times), message.zone) if times else None
