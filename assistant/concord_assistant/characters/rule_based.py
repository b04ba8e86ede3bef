"""The rule-based character: replies from the stated facts, rules and calendar, without a language model."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from functools import lru_cache
from typing import Any, Final
from zoneinfo import ZoneInfo

from pydantic import AwareDatetime, TypeAdapter, ValidationError

from concord_assistant.characters.brief import WORKDAYS, Appointment, Brief, Hours, Response, Rule, StatedCalendar
from concord_assistant.characters.incoming import Incoming
from concord_assistant.office.forms import own_lines

_REPLY_PREFIX: Final = re.compile(r"^\s*(re|aw|antw|sv)\s*(\[\d+\])?\s*:", re.IGNORECASE)
"""The beginning of a reply's subject, which the writer did not write."""

_WEEK: Final = (*WORKDAYS, "saturday", "sunday")
_MAX_DAYS: Final = 60
"""Days of an event that are compared with weekly hours."""

_MOMENT: Final[TypeAdapter[datetime]] = TypeAdapter(AwareDatetime)


@dataclass(frozen=True, slots=True)
class Answer:
    """A character's reply. Without `text` and `response`, the character does not reply."""

    text: str = ""
    """The reply to a message, or the comment of a response to an invitation."""
    response: Response | None = None
    """The response to an invitation."""

    @property
    def given(self) -> bool:
        """Whether there is a reply."""
        return bool(self.text.strip()) or self.response is not None


NO_ANSWER: Final = Answer()


def decided_answer(incoming: Incoming, brief: Brief) -> Answer | None:
    """The reply that a rule or the stated calendar decides, with or without a model. None: neither decides."""
    if incoming.modality == "calendar":
        return None if brief.calendar is None else _invited(incoming.document, brief.calendar)
    rule = _fitting(incoming, brief)
    return None if rule is None else Answer(rule.say or "")


def answer_by_rules(incoming: Incoming, brief: Brief) -> Answer:
    """The reply of the rule-based character."""
    if (decided := decided_answer(incoming, brief)) is not None:
        return decided
    if incoming.modality == "calendar":
        return NO_ANSWER
    text = own_text(incoming)
    stated = [fact.say for fact in brief.facts.values() if mentions(text, fact.about)]
    return Answer(" ".join(stated) or brief.otherwise or "")


def _fitting(incoming: Incoming, brief: Brief) -> Rule | None:
    """The first rule that fits a message."""
    text = own_text(incoming)
    for rule in brief.rules:
        wanted = not rule.about or mentions(text, rule.about)
        if wanted and incoming.modality in rule.channels and not mentions(text, rule.unless):
            return rule
    return None


def mentions(text: str, phrases: Iterable[str]) -> bool:
    """Whether a text has one of the phrases as whole words, in any case and spacing."""
    return any(_phrase(phrase).search(text) for phrase in phrases)


@lru_cache(maxsize=4096)
def _phrase(phrase: str) -> re.Pattern[str]:
    words = r"\s+".join(re.escape(word) for word in phrase.split())
    return re.compile(rf"(?<!\w){words}(?!\w)", re.IGNORECASE)


def own_text(incoming: Incoming) -> str:
    """What the sender wrote in this message: without quoted messages, and without the subject of a reply."""
    subject = "" if _REPLY_PREFIX.match(incoming.subject) else incoming.subject
    return "\n".join([subject, *own_lines(incoming.text)])


def _invited(event: Any, calendar: StatedCalendar) -> Answer:  # noqa: ANN401 - JSON
    """The response by the calendar. Of a series, the first occurrence decides."""
    try:
        start, end = (_MOMENT.validate_python(event.get(name)).astimezone(UTC) for name in ("start", "end"))
    except ValidationError:
        return NO_ANSWER
    if _is_free(start, end, calendar):
        return Answer(calendar.comment_if_free or "", calendar.if_free)
    return Answer(calendar.comment_if_busy or "", calendar.if_busy)


def _is_free(start: datetime, end: datetime, calendar: StatedCalendar) -> bool:
    zone = ZoneInfo(calendar.timezone)
    for busy in calendar.busy:
        spans = [(busy.start, busy.end)] if isinstance(busy, Appointment) else _spans(busy, start, end, zone)
        if any(start < until and since < end for since, until in spans):
            return False
    within = (span for hours in calendar.free for span in _spans(hours, start, end, zone))
    return not calendar.free or any(since <= start and end <= until for since, until in within)


def _spans(hours: Hours, start: datetime, end: datetime, zone: ZoneInfo) -> Iterator[tuple[datetime, datetime]]:
    """The hours on each day that [start, end) touches, in UTC."""
    day, last = start.astimezone(zone).date(), end.astimezone(zone).date()
    for number in range(min((last - day).days, _MAX_DAYS) + 1):
        on = day + timedelta(days=number)
        if _WEEK[on.weekday()] in hours.days:
            closes = on + timedelta(days=1) if hours.end == time(0) else on
            opened = datetime.combine(on, hours.start, zone).astimezone(UTC)
            yield opened, datetime.combine(closes, hours.end, zone).astimezone(UTC)
