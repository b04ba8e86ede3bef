"""What changed in a calendar: appointments by occurrence, other fields by the event's id, and the user's responses."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from concord_assistant.office.deeds import attendees_of
from concord_assistant.office.plan import DayPlan, Errand, Occurrence
from concord_assistant.office.values import plain_address

Item = Mapping[str, Any]

KEPT: Final = ("title", "calendar_id", "all_day", "organizer", "location", "description")
"""Fields of an event that no errand changes. `location` and `description` may change where the times do."""

_TEXTS: Final = frozenset({"location", "description"})
_OPEN: Final = (None, "", "needs-action")


class Appointment(NamedTuple):
    """An occurrence as it is compared: instants, and attendees without the user."""

    start: datetime
    end: datetime
    attendees: frozenset[str]

    def __str__(self) -> str:
        """The occurrence for people."""
        guests = f" with {', '.join(sorted(self.attendees))}" if self.attendees else ""
        return f"{self.start:%Y-%m-%d %H:%M} to {self.end:%H:%M} UTC{guests}"


class CalendarChanges(NamedTuple):
    """What is in the calendar that was not, what is gone, changed fields by event, and changed responses by event.

    `single`: the ids of series of which a single date has a response of its own.
    """

    added: Counter[Appointment]
    removed: Counter[Appointment]
    fields: dict[str, list[str]]
    responses: dict[str, str]
    single: set[str]


def slot(wanted: Occurrence) -> Appointment:
    """A planned occurrence as it is compared."""
    return Appointment(_utc(wanted.start), _utc(wanted.end), frozenset(map(plain_address, wanted.attendees)))


def calendar_changes(
    plan: DayPlan, initial: Mapping[str, Any], final: Mapping[str, Any], others: Sequence[Item]
) -> CalendarChanges:
    """The changes that the assistant made. `others`: the executed events of everybody else.

    The states have `occurrences`, the expanded calendar of the day and its neighbours.
    """
    own = frozenset(map(plain_address, plan.user))
    arrived = [each["data"] for each in others if _operation(each) == "calendar.create"]
    old = {**_by_id(arrived), **initial["calendar"]["events"]}
    new = final["calendar"]["events"]
    before = Counter(_slots([*_occurrences(initial, new), *arrived], own))
    after = Counter(_slots(_occurrences(final, old), own))
    common = [name for name in old if name in new]
    dates = ((each.get("parent_event_id"), _response(each, own)) for name, each in new.items() if name not in old)
    single = {
        series
        for series, said in dates
        if series in common and said not in {_response(old[series], own), _response(new[series], own)}
    }
    return CalendarChanges(
        after - before,
        before - after,
        {name: changed for name in common if (changed := _changed(old[name], new[name]))},
        {name: said for name in common if (said := _response(new[name], own)) != _response(old[name], own)},
        single,
    )


def done(errand: Errand, changes: CalendarChanges) -> bool:
    """Whether the calendar is as an errand wants it."""
    return (
        all(changes.added[slot(each)] for each in errand.added)
        and all(changes.removed[slot(each)] for each in errand.removed)
        and all(changes.responses.get(name) == said for name, said in errand.responses.items())
        and not changes.single & errand.responses.keys()
    )


def unwanted(plan: DayPlan, changes: CalendarChanges) -> Iterator[str]:
    """What no errand explains, a sentence each."""
    errands = plan.errands
    added = Counter(slot(each) for errand in errands for each in errand.added)
    removed = Counter(slot(each) for errand in errands for each in errand.removed)
    yield from (f"No errand puts an event into the calendar at {each}." for each in (changes.added - added).elements())
    yield from (f"No errand takes the event away at {each}." for each in (changes.removed - removed).elements())
    moved = bool(changes.removed)
    for name, fields in changes.fields.items():
        if left := [each for each in fields if each not in _TEXTS or not moved]:
            yield f"No errand changes {' and '.join(left)} of the event {name}."
    answered = {name for errand in errands for name in errand.responses}
    yield from (
        f"No errand responds to the invitation {name}."
        for name in sorted((changes.responses.keys() | changes.single) - answered)
    )


def _occurrences(state: Mapping[str, Any], other: Mapping[str, Item]) -> Iterator[Item]:
    """The occurrences of a state, and the events too far away for them that the other state lacks."""
    yield from state["occurrences"]
    near = {each["event_id"] for each in state["occurrences"]}
    far = (each for name, each in state["calendar"]["events"].items() if name not in near and name not in other)
    yield from (each for each in far if not each.get("parent_event_id"))


def _slots(events: Iterable[Item], own: frozenset[str]) -> Iterator[Appointment]:
    for each in events:
        if each.get("status") != "cancelled" and not each.get("deleted_at"):
            guests = frozenset(map(plain_address, attendees_of(each))) - own
            yield Appointment(_utc(_time(each["start"])), _utc(_time(each["end"])), guests)


def _by_id(events: Iterable[Item]) -> dict[str, Item]:
    return {str(each["event_id"]): each for each in events if each.get("event_id")}


def _changed(old: Item, new: Item) -> list[str]:
    return [name for name in KEPT if name in old and (old[name] or "") != (new.get(name) or "")]


def _response(event: Item, own: frozenset[str]) -> str:
    for each in event.get("attendees") or ():
        if plain_address(str(each.get("email"))) in own:
            said = each.get("response")
            return "" if said in _OPEN else str(said)
    return ""


def _operation(event: Item) -> str:
    return f"{event.get('modality')}.{(event.get('data') or {}).get('operation')}"


def _time(value: str | datetime) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC)
