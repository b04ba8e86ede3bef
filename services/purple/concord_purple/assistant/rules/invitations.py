"""Answers to invitations by rules that the user states."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import time, tzinfo
from typing import Final

from concord_purple.assistant.rules.people import Person, named_in
from concord_purple.assistant.rules.times import Interval, clock_times_in, part_of_day_in, weekday_in

_INVITATIONS: Final = re.compile(r"\binvitations\b", re.I)
_RULE: Final = re.compile(
    r"\boverlap|\b(?:no|none|nothing|not any)\b[^.]*\b(?:before|after|on)\b|\bif i am free\b|\beverything else\b|"
    r"\bcomes? first\b|\bwins\b|\bhas priority\b|\btakes precedence\b|"
    r"\b(?:answer|respond to|accept|decline)\b[^.]*\b(?:invitations|all)\b|\breason as the comment\b",
    re.I,
)
_BEFORE: Final = re.compile(r"\b(?:no|none|nothing|not any)\b[^.;]*?\bbefore ([^.;,]{1,12})", re.I)
_ON: Final = re.compile(r"\b(?:no|none|nothing|not any)\b(?: meetings?)? on ([^.;,]{1,40})", re.I)
_FIRST: Final = re.compile(r"([^.;]*)\b(?:comes? first|wins|has priority|takes precedence)\b", re.I)
_COUNT: Final = re.compile(r"\b(?:all|my|the) (two|three|four|five|six|seven|eight|nine|ten|\d+)\b", re.I)
_COUNTS: Final = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True, slots=True)
class InvitationRules:
    """How the user wants invitations to be answered.

    `not_before`: no meeting starts earlier. `blocked`: a weekday, and the hours on it without meetings. `first`: whose
    invitations win. `count`: how many invitations there are, if the user says so.
    """

    not_before: time | None = None
    blocked: tuple[int, time, time] | None = None
    first: Person | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Invitation:
    """An invitation, with the user's response so far."""

    event_id: str
    title: str
    organizer: str
    span: Interval
    response: str


@dataclass(frozen=True, slots=True)
class Decision:
    """The right response to an invitation, with the reason for a refusal."""

    invitation: Invitation
    response: str
    reason: str = ""


def invitation_rules(text: str, people: Sequence[Person]) -> InvitationRules | None:
    """The rules in a message of the user. None if it states none."""
    if not (_INVITATIONS.search(text) and _RULE.search(text)):
        return None
    before, on, first, count = (pattern.search(text) for pattern in (_BEFORE, _ON, _FIRST, _COUNT))
    times = clock_times_in(before[1]) if before else []
    weekday = weekday_in(on[1]) if on else None
    hours = (part_of_day_in(on[1]) if on else None) or (time(0), time(23, 59))
    named = named_in(first[1], people) if first else []
    return InvitationRules(
        not_before=times[0] if times else None,
        blocked=None if weekday is None else (weekday, *hours),
        first=named[0] if named else None,
        count=_number(count[1]) if count else None,
    )


def is_rule(sentence: str) -> bool:
    """Whether a sentence states such a rule, and so is not a task of its own."""
    return _RULE.search(sentence) is not None


def decide(
    invitations: Iterable[Invitation], own: Sequence[tuple[str, Interval]], rules: InvitationRules, zone: tzinfo
) -> list[Decision]:
    """The responses to all invitations. `own`: the titles and spans of the user's other events.

    Of two that overlap, the one of `rules.first` wins, else an accepted one, else the earlier one.
    """
    first = (rules.first.email or "").casefold() if rules.first else None
    ordered = sorted(
        invitations,
        key=lambda each: (each.organizer.casefold() != first, each.response != "accepted", each.span.start),
    )
    taken, decisions = list(own), []
    for each in ordered:
        reason = _obstacle(each, taken, rules, zone)
        if reason is None:
            taken.append((each.title, each.span))
            decisions.append(Decision(each, "accepted"))
        else:
            decisions.append(Decision(each, "declined", reason))
    return decisions


def _obstacle(
    invitation: Invitation, taken: Sequence[tuple[str, Interval]], rules: InvitationRules, zone: tzinfo
) -> str | None:
    """Why the user does not come. None if the user does."""
    start = invitation.span.start.astimezone(zone)
    end = invitation.span.end.astimezone(zone)
    if rules.not_before is not None and start.time() < rules.not_before:
        return f"I have no meetings before {rules.not_before:%H:%M}."
    if rules.blocked is not None:
        weekday, first, last = rules.blocked
        if start.weekday() == weekday and start.time() < last and first < end.time():
            return f"I have no meetings at that time on {start:%A}s."
    for title, span in taken:
        if span.start < invitation.span.end and invitation.span.start < span.end:
            return f"I have another appointment at that time: {title}."
    return None


def _number(text: str) -> int:
    return int(text) if text.isdigit() else _COUNTS.index(text.casefold())
