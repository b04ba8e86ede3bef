"""The tasks in a user's message, sentence by sentence."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Any, Literal

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
    rules = invitation_rules(text, people)
    tasks = [] if rules is None else [Task("invitations", "the invitations", rules=rules)]
    facts: list[str] = []
    unread: list[str] = []
    last: list[Person] = []
    day: tuple[str, date] | None = None
    waits = False
    for sentence in sentences(text):
        if wording.NEGATED.match(sentence) or (
            rules is not None and is_rule(sentence) and not wording.ME.search(sentence)
        ):
            continue
        zone_here = zone_in(text, zone)
        if (named_day := day_in(sentence, now.astimezone(zone_here).date())) is not None:
            day = (sentence, named_day)
        # Nothing that depends on several people's answers is done without a skill that reads them.
        waits = waits or wording.WAIT.search(sentence) is not None
        context = _Context(sentence, tuple(people), tuple(last), day, now, zone_here)
        found = [] if waits else context.tasks()
        tasks += found
        if not found:
            order = waits or context.condition is not None or wording.COMMAND.match(sentence)
            (unread if order else facts).append(sentence)
        last = named_in(sentence, people) or last
    return Reading(tuple(_with_reports_last(tasks)), tuple(facts), tuple(unread))


@dataclass(frozen=True, slots=True)
class _Context:
    """A sentence with what the ones before it say. `day`: the last day that was named, with its sentence."""

    sentence: str
    people: tuple[Person, ...]
    last: tuple[Person, ...]
    day: tuple[str, date] | None
    now: datetime
    zone: tzinfo

    @property
    def condition(self) -> str | None:
        """The condition at the beginning of the sentence."""
        found = wording.CONDITION.match(self.sentence)
        return found[1] if found else None

    def tasks(self) -> list[Task]:
        """The tasks of the sentence. None if it has a condition that these rules cannot check."""
        condition = self.condition
        if condition and not wording.CONSENT.search(condition) and not wording.ME.search(self.sentence):
            return []
        found = []
        for text in wording.SPLIT.split(wording.ordered(wording.CONDITION.sub("", self.sentence))):
            named = named_in(_unquoted(text), self.people) or named_in(_unquoted(self.sentence), self.people)
            clause = _Clause(text, tuple(named or (self.last if wording.PRONOUN.search(text) else ())), self)
            if (task := clause.task()) is not None:
                after = next(iter([*named_in(condition, self.people), *self.last]), None) if condition else None
                found.append(replace(task, after=after))
        return found


@dataclass(frozen=True, slots=True)
class _Clause:
    """An order of a sentence, and the people that it means."""

    text: str
    named: tuple[Person, ...]
    context: _Context

    def task(self) -> Task | None:
        """The first task that the clause fits."""
        if wording.COMMAND.match(self.text):
            readers = (self._remind, self._forward, self._respond, self._enter, self._file)
            if (task := _first(readers)) is not None:
                return task
        if (task := _first((self._propose, self._report, self._answer))) is not None:
            return task
        return self._write() if wording.COMMAND.match(self.text) else None

    def _is(self, kind: Kind, about: Sequence[str] | None = None, **more: Any) -> Task:  # noqa: ANN401 - fields of a task
        base = Task(kind, self.text, self.named, about=self._quoted if about is None else tuple(about))
        return replace(base, **more)

    @property
    def _quoted(self) -> tuple[str, ...]:
        return tuple(wording.QUOTED.findall(self.text))

    @property
    def _duration(self) -> timedelta:
        return duration_in(self.text) or timedelta(hours=1)

    def _remind(self) -> Task | None:
        if (reminded := wording.REMIND.search(self.text)) is None:
            return None
        return self._is("remind", text=reminded[1].strip(" ."), window=self._span())

    def _forward(self) -> Task | None:
        if (found := wording.RECEIVER.search(self.text)) is None:
            return None
        receivers, senders = (tuple(named_in(found[part], self.context.people)) for part in (2, 1))
        about = (*self._quoted, *sorted(wording.content_words(_without(found[1], senders))))
        return self._is("forward", about, people=receivers, senders=senders) if receivers else None

    def _respond(self) -> Task | None:
        if wording.RESPOND.search(self.text) is None or wording.ME.search(self.text):
            return None
        accepts = wording.RESPOND.findall(self.text)[0].casefold() == "accept"
        about = (*self._quoted, *sorted(wording.content_words(_without(self.text, self.named))))
        return self._is("respond", about, action="accepted" if accepts else "declined")

    def _enter(self) -> Task | None:
        about_event = wording.EVENT.search(self.text) or self._quoted
        if not (wording.ENTER.search(self.text) and about_event) or wording.FREE.search(self.text):
            return None
        titled = wording.TITLE.search(wording.CALENDAR.sub("", self.text))
        has_title = not self._quoted and titled is not None and titled[1].casefold() not in wording.UNTITLED
        about = (titled[1],) if titled is not None and has_title else self._quoted
        return self._is("enter", about, window=self._span(), duration=self._duration)

    def _file(self) -> Task | None:
        filed = wording.FILE.search(self.text)
        return self._filing(filed[1].casefold()) if filed and wording.FILES_MAIL.search(self.text) else None

    def _filing(self, verb: str) -> Task | None:
        tool = "mark_unread" if verb == "mark" and re.search(r"\bunread\b", self.text, re.I) else wording.TOOL[verb]
        pattern = {"add_label": wording.LABEL, "move": wording.FOLDER}.get(tool)
        place = pattern.search(self.text) if pattern else None
        if pattern and place is None:
            return None
        words = wording.content_words(_without(self.text if place is None else self.text[: place.start(1)], self.named))
        category: Category | None = (
            "bulk" if wording.BULK.search(self.text) else "asking" if wording.ASKING.search(self.text) else None
        )
        until = wording.UNTIL.search(self.text)
        times = clock_times_in(until[1]) if until else []
        today, zone = self.context.now.astimezone(self.context.zone), self.context.zone
        return self._is(
            "file",
            () if category else (*self._quoted, *sorted(words)),
            people=(),
            senders=self.named,
            action=f"email_{tool}",
            target=place[1] if place else "",
            category=category,
            until=datetime.combine(today, times[0], zone) if times else None,
        )

    def _propose(self) -> Task | None:
        day = self.context.day
        if not (wording.FREE.search(self.text) and wording.SAY.search(self.text)) or day is None or not self.named:
            return None
        wanted = window_in(self.text if clock_times_in(self.text) else day[0], day[1], self.context.zone)
        return self._is("propose", window=wanted, duration=self._duration)

    def _report(self) -> Task | None:
        return self._is("report", people=()) if wording.ME.search(self.text) else None

    def _answer(self) -> Task | None:
        return self._is("answer", people=(), senders=self.named) if wording.ANSWER_ALL.search(self.text) else None

    def _write(self) -> Task | None:
        if not (wording.SAY.search(self.text) and (said := _said(self.text, self._quoted))):
            return None
        addressed = _addressed(self.text)
        to = named_in(addressed, self.context.people) or (self.named if wording.PRONOUN.search(addressed) else ())
        channel: Channel = "sms" if wording.SMS.search(self.text) else "email"
        return self._is("write", people=tuple(to), text=said, channel=channel) if to else None

    def _span(self) -> Interval | None:
        """The span of an event: the clock times of the clause on the day that was named last."""
        times, day, zone = clock_times_in(self.text), self.context.day, self.context.zone
        if day is None or not times:
            return None
        start = datetime.combine(day[1], times[0], zone)
        end = datetime.combine(day[1], times[1], zone) if len(times) > 1 else start
        return Interval(start, end if end > start else start + self._duration)


def _first(readers: Iterable[Callable[[], Task | None]]) -> Task | None:
    return next((task for reader in readers if (task := reader()) is not None), None)


def _addressed(clause: str) -> str:
    """The part of a clause before what is to be written."""
    found = wording.QUESTION.search(clause) or wording.CONTENT.search(clause)
    return clause if found is None else clause[: found.start(1)]


def _said(clause: str, quoted: Sequence[str]) -> str:
    """What to write: the quoted text, what follows `that`, or a question."""
    if asked := wording.QUESTION.search(clause):
        word, rest = asked[1].casefold(), asked[2].strip(" .?")
        return f"Could you please tell me {word if word not in {'for', 'about'} else 'about'} {rest}?"
    if content := wording.CONTENT.search(clause):
        # What follows `and where …` is a question to answer, not a statement to pass on.
        text = re.sub(r",? and (?:where|when|how|what|who|whether)\b.*$", "", content[1].strip())
        return text[:1].upper() + text[1:] if text.endswith((".", "!", "?")) else f"{text[:1].upper()}{text[1:]}."
    return quoted[0] if quoted else ""


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
