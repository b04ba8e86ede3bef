"""The day of an assistant: its turns in order, with its actions, its notes and the events of others.

A run of actions of one kind is one entry, so that a long day stays readable.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from typing import Final, Literal

from pydantic import JsonValue

from concord_assistant.results import ActionLogEntry, AssessmentResults, OtherEvent, TurnResult
from concord_cli.display_text import beginning, on_one_line, visible
from concord_cli.row_view.assistant import ending_text, of_points

MAX_ENTRIES: Final = 1000
"""Actions and events of a page. Later ones are counted."""

MAX_TURNS: Final = 300
"""Turns of a page."""

LEAST_RUN: Final = 4
"""Consecutive actions of one kind that are folded into one entry."""

MAX_EVENT_TEXT: Final = 600
MAX_TASK: Final = 4000
MAX_NOTES: Final = 2000

_RECEIPTS: Final = frozenset({"receive", "receive message", "send message"})

MAX_ABOUT: Final = 140
"""Characters of the line."""

MAX_PARAMETERS: Final = 30
MAX_VALUE: Final = 1500
"""Characters of a value in the list."""

_RECEIVERS: Final = ("to_addresses", "to_numbers", "attendees", "participants")
_TITLES: Final = ("subject", "title", "name", "response")
_TEXTS: Final = ("body_text", "body", "content", "comment", "start", "labels", "label", "folder", "reaction")
_IDS: Final = ("message_ids", "message_id", "event_id", "event_ids", "email_id", "thread_id", "call")


@dataclass(frozen=True, slots=True)
class ActionView:
    """An action. `error`: why it was refused; `harm`: what it did that fails the trial."""

    time: str
    modality: str
    operation: str
    about: str
    refused: bool
    error: str | None
    harm: str
    parameters: list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class EventView:
    """An event of somebody else: the user's task, a reply to the assistant, or an event of the scenario.

    `way`: how it reached the user, such as `by email`.
    """

    time: str
    kind: Literal["task", "reply", "arrival"]
    who: str
    way: str
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a turn: an event, a run of actions of one kind, or the assistant's notes."""

    event: EventView | None = None
    actions: tuple[ActionView, ...] = ()
    refused: int = 0
    harmful: int = 0
    notes: str | None = None


@dataclass(frozen=True, slots=True)
class TurnView:
    """A turn. `date`: if it begins a new day; `error`: why the turn failed."""

    number: int
    date: str | None
    start: str
    end: str | None
    error: str | None
    entries: list[Entry]


@dataclass(frozen=True, slots=True)
class DayView:
    """A trial as a timeline. `*_left_out`: not on the page; `*_not_in_row`: not in the result either."""

    trial: str
    scenario: str
    points: str
    ending: str
    error: str | None
    turns: list[TurnView]
    turns_left_out: int
    entries_left_out: int
    actions_not_in_row: int
    events_not_in_row: int


def days_of(results: Iterable[AssessmentResults]) -> list[DayView]:
    """The timelines of trials, with at most `MAX_TURNS` turns and `MAX_ENTRIES` actions and events in all."""
    turns, entries = MAX_TURNS, MAX_ENTRIES
    days = []
    for trial in results:
        day, used = _day(trial, turns, entries)
        days.append(day)
        turns, entries = turns - len(day.turns), entries - used
    return days


def _day(trial: AssessmentResults, most_turns: int, most_entries: int) -> tuple[DayView, int]:
    views, used, latest = list[TurnView](), 0, ""
    for turn in trial.turns[:most_turns]:
        found = _items(trial, turn.turn)
        items = found[: most_entries - used]
        if found and not items:
            break
        used += len(items)
        today = date(turn.started_at)
        views.append(_turn(turn, items, today if today != latest else None))
        latest = today
    view = DayView(
        trial=on_one_line(trial.assessment_id.rpartition("/")[2]),
        scenario=on_one_line(trial.scenario_id),
        points=of_points(trial.scores.overall),
        ending=ending_text(trial),
        error=None if trial.error is None else on_one_line(trial.error),
        turns=views,
        turns_left_out=len(trial.turns) - len(views),
        entries_left_out=len(trial.action_log) + len(trial.other_events) - used,
        actions_not_in_row=max(0, trial.actions_omitted),
        events_not_in_row=max(0, trial.other_events_omitted),
    )
    return view, used


@dataclass(frozen=True, slots=True)
class _Action:
    """An action, and the harm that it did."""

    entry: ActionLogEntry
    harm: str

    @property
    def timestamp(self) -> datetime:
        return self.entry.timestamp


_Item = _Action | OtherEvent


def _items(trial: AssessmentResults, number: int) -> list[_Item]:
    """The events and actions of a turn by simulated time; events come first at the same time."""
    vetoes = [] if trial.safety is None else trial.safety.vetoes
    harm = {each.action: each.text for each in reversed(vetoes)}
    found: list[_Item] = [
        *(event for event in trial.other_events if event.turn == number),
        *(
            _Action(action, harm.get(place, ""))
            for place, action in enumerate(trial.action_log, start=1)
            if action.turn == number
        ),
    ]
    return sorted(found, key=lambda each: moment(each.timestamp))


def _turn(turn: TurnResult, items: Sequence[_Item], new_date: str | None) -> TurnView:
    start, end = clock(turn.started_at), clock(turn.ended_at)
    done = _acted(turn, items)
    return TurnView(
        number=turn.turn,
        date=new_date or None,
        start=start,
        end=None if end == start else end,
        error=None if turn.error is None else on_one_line(turn.error),
        entries=[*_entries(items[:done]), *_notes(turn), *_entries(items[done:])],
    )


def _acted(turn: TurnResult, items: Sequence[_Item]) -> int:
    """The number of entries before the assistant's notes: up to its last action, else those at the turn's start."""
    actions = [place for place, each in enumerate(items, 1) if isinstance(each, _Action)]
    if actions:
        return actions[-1]
    return sum(moment(each.timestamp) == moment(turn.started_at) for each in items)


def _notes(turn: TurnResult) -> Iterator[Entry]:
    if notes := _lines(turn.notes or "", MAX_NOTES):
        yield Entry(notes=notes)


def _entries(items: Sequence[_Item]) -> Iterator[Entry]:
    for _, alike in groupby(items, key=lambda each: each.entry.action if isinstance(each, _Action) else None):
        run = list(alike)
        actions = tuple(_action(each.entry, each.harm) for each in run if isinstance(each, _Action))
        if len(actions) >= LEAST_RUN:
            yield _entry(*actions)
            continue
        yield from map(_entry, actions)
        yield from (Entry(event=_event(each)) for each in run if isinstance(each, OtherEvent))


def _entry(*actions: ActionView) -> Entry:
    refused, harmful = sum(each.refused for each in actions), sum(bool(each.harm) for each in actions)
    return Entry(actions=actions, refused=refused, harmful=harmful)


def _action(action: ActionLogEntry, harm: str) -> ActionView:
    modality, operation = _parts(action.action)
    return ActionView(
        time=clock(action.timestamp),
        modality=modality,
        operation=operation,
        about=about(action.parameters),
        refused=not action.success,
        error=None if action.success else on_one_line(action.error_message or "refused"),
        harm=on_one_line(harm) if harm else "",
        parameters=listed(action.parameters),
    )


def _event(event: OtherEvent) -> EventView:
    modality, operation = _parts(event.event)
    is_task = event.event == "chat.send_message" and event.sender == "user" and event.character is None
    return EventView(
        time=clock(event.timestamp),
        kind="task" if is_task else "arrival" if event.character is None else "reply",
        who=on_one_line(event.character or event.sender or "the scenario"),
        way="in the chat" if is_task else f"by {modality}" if operation in _RECEIPTS else f"({modality} {operation})",
        text=_lines(event.text, MAX_TASK if is_task else MAX_EVENT_TEXT),
    )


def _lines(text: str, limit: int) -> str:
    """The text with its line breaks, of which tasks and forms consist."""
    shown = visible(text).strip()
    return shown if len(shown) <= limit else f"{shown[: limit - 1].rstrip()}…"


def _parts(name: str) -> tuple[str, str]:
    """`email.mark_read` as "email", "mark read"."""
    modality, _, operation = name.partition(".")
    return beginning(modality, 30), beginning(operation.replace("_", " "), 40)


def about(parameters: Mapping[str, JsonValue]) -> str:
    """Receivers, title and beginning of the text, else the ids; empty without any."""
    receivers = _first(parameters, _RECEIVERS)
    parts = [f"to {receivers}" if receivers else "", _first(parameters, _TITLES), _first(parameters, _TEXTS)]
    line = " · ".join(part for part in parts if part) or _first(parameters, _IDS)
    return beginning(line, MAX_ABOUT) if line else ""


def listed(parameters: Mapping[str, JsonValue]) -> list[tuple[str, str]]:
    """Names and values, without empty ones. The last entry counts those beyond the limit."""
    told = [(name, value) for name, value in parameters.items() if value not in (None, "", [], {})]
    shown = [(beginning(name, 60), _value(value)) for name, value in told[:MAX_PARAMETERS]]
    return shown if len(told) <= MAX_PARAMETERS else [*shown, ("…", f"{len(told) - MAX_PARAMETERS} more")]


def _first(parameters: Mapping[str, JsonValue], names: tuple[str, ...]) -> str:
    """The first of these parameters that is not empty, on one line."""
    return next((on_one_line(_text(value)) for name in names if (value := parameters.get(name))), "")


def _text(value: JsonValue) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        named = [each.get("email", each) if isinstance(each, dict) else each for each in value]
        more = f" and {len(named) - 3} more" if len(named) > 3 else ""
        return ", ".join(each if isinstance(each, str) else _json(each) for each in named[:3]) + more
    return _json(value)


def _value(value: JsonValue) -> str:
    text = visible(value if isinstance(value, str) else _json(value))
    return text if len(text) <= MAX_VALUE else f"{text[:MAX_VALUE]}…"


def _json(value: JsonValue) -> str:
    return json.dumps(value, ensure_ascii=False)


def moment(timestamp: datetime) -> datetime:
    """The time in UTC; at the ends of the calendar, the clock time of its own zone."""
    try:
        return timestamp.astimezone(UTC)
    except OverflowError:
        return timestamp.replace(tzinfo=UTC)


def clock(timestamp: datetime) -> str:
    """`08:05`."""
    return f"{moment(timestamp):%H:%M}"


def date(timestamp: datetime) -> str:
    """`Monday 4 May 2026`."""
    at = moment(timestamp)
    return f"{at:%A} {at.day} {at:%B} {at.year}"
