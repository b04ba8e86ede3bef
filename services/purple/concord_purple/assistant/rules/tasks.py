"""The tasks in a user's message, sentence by sentence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Literal

from concord_purple.assistant.rules import wording
from concord_purple.assistant.rules.invitations import InvitationRules, invitation_rules, is_rule
from concord_purple.assistant.rules.letters import Channel, sentences
from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.times import (
    Interval,
    clock_times_in,
    day_in,
    duration_in,
    window_in,
    zone_in,
)

Kind = Literal["write", "propose", "answer", "enter", "respond", "invitations", "forward", "file", "remind", "report"]
Category = Literal["bulk", "asking"]
"""Newsletters and advertisements, or emails that ask the user something."""


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do.

    `people`: to whom to write, or whom to invite; of `forward`, the receivers. `about`: words, quoted titles first,
    that name the email or event. `senders`: whose emails. `after`: the person whose consent must arrive first.
    """

    kind: Kind
    sentence: str
    people: tuple[Person, ...] = ()
    senders: tuple[Person, ...] = ()
    about: tuple[str, ...] = ()
    channel: Channel = "email"
    text: str = ""
    window: Interval | None = None
    duration: timedelta = timedelta(hours=1)
    action: str = ""
    """Of `respond`: the response. Of `file`: the tool."""
    target: str = ""
    """Of `file`: the label or the folder."""
    after: Person | None = None
    category: Category | None = None
    """Of `file`: the emails of this category instead of those about some words."""
    until: datetime | None = None
    """Until when the task is repeated."""
    rules: InvitationRules | None = None


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message of the user says: the tasks, the facts that it states, and the sentences that no rule reads."""

    tasks: tuple[Task, ...]
    facts: tuple[str, ...]
    unread: tuple[str, ...]


def read_task(text: str, people: Sequence[Person], now: datetime, zone: tzinfo) -> Reading:
    """The tasks and facts in a message of the user. Pronouns mean the person who was named last."""
    tasks: list[Task] = []
    facts: list[str] = []
    unread: list[str] = []
    last: list[Person] = []
    rules = invitation_rules(text, people)
    if rules is not None:
        tasks.append(Task("invitations", "the invitations", rules=rules))
    window: tuple[str, date] | None = None
    for sentence in sentences(text):
        if wording.NEGATED.match(sentence) or (
            rules is not None and is_rule(sentence) and not wording.ME.search(sentence)
        ):
            continue
        zone_here = zone_in(text, zone)
        if (day := day_in(sentence, now.astimezone(zone_here).date())) is not None:
            window = (sentence, day)
        condition = wording.CONDITION.match(sentence)
        if condition and not wording.CONSENT.search(condition[1]) and not wording.ME.search(sentence):
            # Whether the condition holds is beyond these rules, so its consequence is not drawn.
            unread.append(sentence)
            continue
        rest = sentence[condition.end() :] if condition else sentence
        found = False
        for clause in wording.SPLIT.split(rest):
            named = named_in(_unquoted(clause), people) or named_in(_unquoted(sentence), people)
            addressed = named or (last if wording.PRONOUN.search(clause) else [])
            task = _task(clause, addressed, window, zone_here, people, now)
            if task is not None:
                if condition:
                    task = replace(task, after=next(iter([*named_in(condition[1], people), *last]), None))
                tasks.append(task)
                found = True
        last = named_in(sentence, people) or last
        if not found:
            (unread if wording.COMMAND.match(sentence) else facts).append(sentence)
    return Reading(tuple(_with_reports_last(tasks)), tuple(facts), tuple(unread))


def _task(
    clause: str,
    named: Sequence[Person],
    window: tuple[str, date] | None,
    zone: tzinfo,
    people: Sequence[Person],
    now: datetime,
) -> Task | None:
    quoted = tuple(wording.QUOTED.findall(clause))
    base = Task("report", clause, tuple(named), about=quoted)
    if reminded := wording.REMIND.search(clause):
        return replace(base, kind="remind", text=reminded[1].strip(" ."), window=_start(clause, window, zone))
    if forwarded := wording.RECEIVER.search(clause):
        receivers, senders = named_in(forwarded[2], people), named_in(forwarded[1], people)
        about = (*quoted, *sorted(wording.content_words(_without(forwarded[1], senders))))
        return (
            replace(base, kind="forward", people=tuple(receivers), senders=tuple(senders), about=about)
            if receivers
            else None
        )
    if wording.RESPOND.search(clause) and not wording.ME.search(clause):
        response = "accepted" if wording.RESPOND.findall(clause)[0].casefold() == "accept" else "declined"
        about = (*quoted, *sorted(wording.content_words(_without(clause, named))))
        return replace(base, kind="respond", action=response, about=about)
    if wording.ENTER.search(clause) and (wording.EVENT.search(clause) or quoted) and not wording.FREE.search(clause):
        span = _start(clause, window, zone)
        titled = wording.TITLE.search(wording.CALENDAR.sub("", clause))
        base = (
            base
            if quoted or titled is None or titled[1].casefold() in wording.UNTITLED
            else replace(base, about=(titled[1],))
        )
        return replace(base, kind="enter", window=span, duration=duration_in(clause) or timedelta(hours=1))
    if (filed := wording.FILE.search(clause)) and wording.FILES_MAIL.search(clause):
        return _filing(base, filed[1].casefold(), clause, named, now, zone)
    if wording.FREE.search(clause) and wording.SAY.search(clause) and window is not None and named:
        wanted = window_in(clause if clock_times_in(clause) else window[0], window[1], zone)
        return replace(base, kind="propose", window=wanted, duration=duration_in(clause) or timedelta(hours=1))
    if wording.ME.search(clause):
        return replace(base, kind="report", people=())
    if wording.ANSWER_ALL.search(clause):
        return replace(base, kind="answer", people=(), senders=tuple(named))
    if wording.SAY.search(clause) and (said := _said(clause, quoted)):
        to = named_in(_addressed(clause), people) or (named if wording.PRONOUN.search(_addressed(clause)) else [])
        channel: Channel = "sms" if wording.SMS.search(clause) else "email"
        return replace(base, kind="write", people=tuple(to), text=said, channel=channel) if to else None
    return None


def _filing(base: Task, verb: str, clause: str, named: Sequence[Person], now: datetime, zone: tzinfo) -> Task | None:
    tool = wording.TOOL[verb]
    if verb == "mark" and re.search(r"\bunread\b", clause, re.I):
        tool = "mark_unread"
    pattern = {"add_label": wording.LABEL, "move": wording.FOLDER}.get(tool)
    place = pattern.search(clause) if pattern else None
    if pattern and place is None:
        return None
    words = wording.content_words(_without(clause if place is None else clause[: place.start(1)], named))
    category: Category | None = (
        "bulk" if wording.BULK.search(clause) else "asking" if wording.ASKING.search(clause) else None
    )
    until = wording.UNTIL.search(clause)
    times = clock_times_in(until[1]) if until else []
    return replace(
        base,
        kind="file",
        people=(),
        senders=tuple(named),
        action=f"email_{tool}",
        target=place[1] if place else "",
        about=() if category else (*base.about, *sorted(words)),
        category=category,
        until=datetime.combine(now.astimezone(zone), times[0], zone) if times else None,
    )


def _addressed(clause: str) -> str:
    """The part of a clause before what is to be written."""
    found = wording.QUESTION.search(clause) or wording.CONTENT.search(clause)
    return clause if found is None else clause[: found.start(1)]


def _said(clause: str, quoted: Sequence[str]) -> str:
    """What to write: the quoted text, what follows `that`, or a question."""
    if asked := wording.QUESTION.search(clause):
        word, rest = asked[1].casefold(), asked[2].strip(" .?")
        return f"Could you please tell me {word if word not in {'for', 'about'} else 'about'} {rest}?"
    if told := wording.CONTENT.search(clause):
        text = told[1].strip()
        return text[:1].upper() + text[1:] if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."
    return quoted[0] if quoted else ""


def _start(clause: str, window: tuple[str, date] | None, zone: tzinfo) -> Interval | None:
    """The span of an event: the clock times of the clause on the day that was named last."""
    times = clock_times_in(clause)
    if window is None or not times:
        return None
    start = datetime.combine(window[1], times[0], zone)
    end = datetime.combine(window[1], times[1], zone) if len(times) > 1 else start
    if end <= start:
        end = start + (duration_in(clause) or timedelta(hours=1))
    return Interval(start, end)


def _unquoted(text: str) -> str:
    return wording.QUOTED.sub(" ", text)


def _without(text: str, people: Sequence[Person]) -> str:
    for person in people:
        for name in (person.name, person.email or "", *person.name.split()):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.I) if name else text
    return _unquoted(text)


def _with_reports_last(tasks: Sequence[Task]) -> Iterator[Task]:
    """Reports come when all else is done."""
    yield from (task for task in tasks if task.kind != "report")
    yield from [task for task in tasks if task.kind == "report"][:1]
