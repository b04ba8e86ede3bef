"""The tasks in a user's message, sentence by sentence."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta, tzinfo
from typing import Final, Literal

from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.times import (
    Interval,
    clock_times_in,
    day_in,
    duration_in,
    window_in,
    zone_in,
)

Kind = Literal["write", "propose", "answer", "enter", "respond", "forward", "file", "remind", "report"]
Channel = Literal["email", "sms"]


@dataclass(frozen=True, slots=True)
class Task:
    """One thing to do.

    `people`: to whom to write, or whom to invite; of `forward`, the receivers. `about`: words, quoted titles first, that
    name the email or event. `senders`: whose emails. `after`: the person whose consent must arrive first.
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


@dataclass(frozen=True, slots=True)
class Reading:
    """What a message of the user says: the tasks, the facts that it states, and the sentences that no rule reads."""

    tasks: tuple[Task, ...]
    facts: tuple[str, ...]
    unread: tuple[str, ...]


_SENTENCE: Final = re.compile(r"(?<=[.!?])[\"”']?\s+(?=[A-Z0-9\"“-])|\n+\s*(?:[-*•]|\d+[.)])?\s*")
_QUOTED: Final = re.compile(r"[\"“]([^\"”]{1,300})[\"”]")
_NEGATED: Final = re.compile(r"^(please )?(do not|don't|never|nothing|no need|leave)\b", re.I)
_CONDITION: Final = re.compile(r"^(?:please )?(?:when|once|after|as soon as|if) ([^,]{1,120}),\s*", re.I)
_CONSENT: Final = re.compile(r"\b(agree|confirm|accept|answer|repl|say yes|said yes|ok)", re.I)
_SPLIT: Final = re.compile(
    r",? and (?:then )?(?=(?:please )?(?:forward|archive|delete|accept|decline|put|tell|let|write|reply|remind|text|send|add)\b)|; ",
    re.I,
)
_ME: Final = re.compile(r"\b(tell|let|inform|report to|write|message|confirm to) me\b|\breport\b", re.I)
_FREE: Final = re.compile(r"\b(free|available)\b|\b(find|propose|suggest|offer)\b.*\b(time|slot)", re.I)
_SAY: Final = re.compile(
    r"\b(write|reply|answer|respond|tell|email|e-mail|text|let|inform|ask|thank|send|propose|suggest|offer|find|sms)\b",
    re.I,
)
_ENTER: Final = re.compile(r"\b(put|add|enter|schedule|book|create|set up|block|plan|invite)\b", re.I)
_EVENT: Final = re.compile(
    r"\b(calendar|meeting|event|appointment|call|lunch|dinner|breakfast|session|review|hour)\b", re.I
)
_RESPOND: Final = re.compile(r"\b(accept|decline)\b", re.I)
_FILE: Final = re.compile(r"\b(archive|delete|trash|star|label|tag|mark|move)\b", re.I)
_MAIL: Final = re.compile(
    r"\b(e-?mails?|mails?|newsletters?|messages?|inbox|spam|adverts?|advertisements?|invoices?)\b", re.I
)
_SMS: Final = re.compile(r"\b(text|sms|text message)\b", re.I)
_COMMAND: Final = re.compile(
    r"^(?:please |then |also |finally |and )*"
    r"(?:look|check|read|go|see|write|reply|answer|respond|tell|email|text|let|inform|ask|thank|send|put|add|enter|schedule|book|"
    r"create|set|block|plan|accept|decline|archive|delete|trash|star|label|tag|mark|move|forward|remind|find|propose|invite)\b",
    re.I,
)
_CONTENT: Final = re.compile(r"\b(?:that|saying|:)\s+(.+)$", re.I | re.S)
_QUESTION: Final = re.compile(r"\bask\b.*?\b(whether|if|for|about|when|where|what|who|how)\b\s*(.+)$", re.I | re.S)
_REMIND: Final = re.compile(r"\bremind me (?:to |of |about |that )?(.+)$", re.I | re.S)
_RECEIVER: Final = re.compile(r"\bforward\b(.*?)\bto\b(.+)$", re.I | re.S)
_ANSWER_ALL: Final = re.compile(
    r"\b(answer|reply to|respond to)\b.*\b(emails?|mails?|questions?|inquir|requests?|everybody|everyone|customers?)\b",
    re.I,
)
_LABEL: Final = re.compile(r"\b(?:label|tag)(?:led)?\b.*?\b(?:with|as)\s+[\"“]?([\w-]+)", re.I)
_FOLDER: Final = re.compile(r"\bto (?:the )?(?:folder )?[\"“]?([\w-]+)[\"”]?(?: folder)?\s*\.?$", re.I)
_TOOL: Final = {
    "archive": "archive",
    "delete": "delete",
    "trash": "delete",
    "star": "star",
    "label": "add_label",
    "tag": "add_label",
    "mark": "mark_read",
    "move": "move",
}
_STOP: Final = frozenset(
    "a an and the of to in on at for from with by is are be it its this that these those all any every each my me i you your we our "
    "his her their him them he she they please then when once as soon has have had will would can could should do does not so if "
    "about email emails mail mails e-mail message messages text invitation invitations meeting event calendar inbox new unread "
    "accept decline archive delete trash star label tag mark move forward reply answer respond tell write send folder".split()
)


def read_task(text: str, people: Sequence[Person], now: datetime, zone: tzinfo) -> Reading:
    """The tasks and facts in a message of the user. Pronouns mean the person who was named last."""
    tasks: list[Task] = []
    facts, unread = [], []
    last: Person | None = None
    window: tuple[str, date] | None = None
    for sentence in _sentences(text):
        if _NEGATED.match(sentence):
            continue
        zone_here = zone_in(text, zone)
        if (day := day_in(sentence, now.astimezone(zone_here).date())) is not None:
            window = (sentence, day)
        condition = _CONDITION.match(sentence)
        rest = sentence[condition.end() :] if condition else sentence
        found = False
        for clause in _SPLIT.split(rest):
            named = named_in(_unquoted(clause), people) or named_in(_unquoted(sentence), people)
            addressed = named or (
                [last] if last is not None and re.search(r"\b(him|her|them|he|she|they)\b", sentence, re.I) else []
            )
            task = _task(clause, addressed, window, zone_here, people)
            if task is not None:
                if condition and _CONSENT.search(condition[1]):
                    waited = named_in(condition[1], people)
                    task = replace(task, after=waited[0] if waited else last)
                tasks.append(task)
                found = True
        if mentioned := named_in(sentence, people):
            last = mentioned[-1]
        if not found:
            (unread if _COMMAND.match(sentence) else facts).append(sentence)
    return Reading(tuple(_with_reports_last(tasks)), tuple(facts), tuple(unread))


def content_words(text: str) -> set[str]:
    """The words of a text that say what it is about, in lower case, without plural endings."""
    words = re.findall(r"[a-z0-9][\w'-]+", text.casefold())
    return {word.rstrip("s") if len(word) > 3 else word for word in words if word not in _STOP}


def _task(
    clause: str, named: Sequence[Person], window: tuple[str, date] | None, zone: tzinfo, people: Sequence[Person]
) -> Task | None:
    quoted = tuple(_QUOTED.findall(clause))
    base = Task("report", clause, tuple(named), about=quoted)
    if reminded := _REMIND.search(clause):
        return replace(base, kind="remind", text=reminded[1].strip(" ."), window=_start(clause, window, zone))
    if forwarded := _RECEIVER.search(clause):
        receivers, senders = named_in(forwarded[2], people), named_in(forwarded[1], people)
        about = (*quoted, *sorted(content_words(_without(forwarded[1], senders))))
        return (
            replace(base, kind="forward", people=tuple(receivers), senders=tuple(senders), about=about)
            if receivers
            else None
        )
    if _RESPOND.search(clause) and not _ME.search(clause):
        response = "accepted" if _RESPOND.findall(clause)[0].casefold() == "accept" else "declined"
        about = (*quoted, *sorted(content_words(_without(clause, named))))
        return replace(base, kind="respond", action=response, about=about)
    if _ENTER.search(clause) and (_EVENT.search(clause) or quoted) and not _FREE.search(clause):
        span = _start(clause, window, zone)
        return replace(base, kind="enter", window=span, duration=duration_in(clause) or timedelta(hours=1))
    if (filed := _FILE.search(clause)) and _MAIL.search(clause):
        return _filing(base, filed[1].casefold(), clause, named)
    if _FREE.search(clause) and _SAY.search(clause) and window is not None and named:
        wanted = window_in(clause if clock_times_in(clause) else window[0], window[1], zone)
        return replace(base, kind="propose", window=wanted, duration=duration_in(clause) or timedelta(hours=1))
    if _ME.search(clause):
        return replace(base, kind="report", people=())
    if _ANSWER_ALL.search(clause):
        return replace(base, kind="answer", people=(), senders=tuple(named))
    if _SAY.search(clause) and named and (said := _said(clause, quoted)):
        return replace(base, kind="write", text=said, channel="sms" if _SMS.search(clause) else "email")
    return None


def _filing(base: Task, verb: str, clause: str, named: Sequence[Person]) -> Task | None:
    tool = _TOOL[verb]
    if verb == "mark" and re.search(r"\bunread\b", clause, re.I):
        tool = "mark_unread"
    pattern = {"add_label": _LABEL, "move": _FOLDER}.get(tool)
    place = pattern.search(clause) if pattern else None
    if pattern and place is None:
        return None
    words = content_words(_without(clause if place is None else clause[: place.start(1)], named))
    about = (*base.about, *sorted(words))
    target = place[1] if place else ""
    return replace(
        base, kind="file", people=(), senders=tuple(named), action=f"email_{tool}", target=target, about=about
    )


def _said(clause: str, quoted: Sequence[str]) -> str:
    """What to write: the quoted text, what follows `that`, or a question."""
    if asked := _QUESTION.search(clause):
        word, rest = asked[1].casefold(), asked[2].strip(" .?")
        return f"Could you please tell me {word if word not in {'for', 'about'} else 'about'} {rest}?"
    if told := _CONTENT.search(clause):
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


def _sentences(text: str) -> Iterator[str]:
    yield from (each.strip() for each in _SENTENCE.split(text) if each and each.strip())


def _unquoted(text: str) -> str:
    return _QUOTED.sub(" ", text)


def _without(text: str, people: Sequence[Person]) -> str:
    for person in people:
        for name in (person.name, person.email or "", *person.name.split()):
            text = re.sub(rf"(?<!\w){re.escape(name)}(?!\w)", " ", text, flags=re.I) if name else text
    return _unquoted(text)


def _with_reports_last(tasks: Sequence[Task]) -> Iterator[Task]:
    """Reports come when all else is done."""
    yield from (task for task in tasks if task.kind != "report")
    yield from [task for task in tasks if task.kind == "report"][:1]
