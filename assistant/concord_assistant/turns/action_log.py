"""The action log: the assistant's actions from the environment's events, and its calls that the environment refused."""

import re
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

from concord_assistant.environment.admin import RefusedCall
from concord_assistant.results import ActionLogEntry, OtherEvent
from concord_assistant.turns.other_events import MAX_LISTED, listed
from concord_assistant.turns.shortening import shortened
from concord_environment_client.modalities import MODALITIES
from concord_environment_client.responses import Event

MAX_ACTIONS: Final = 2000
"""Actions of one assessment that are logged. Further ones are counted."""

MAX_REFUSALS: Final = 100
"""The limit of refused calls of one turn that are logged. Further calls are counted."""

MAX_OTHER_EVENTS: Final = 5000
"""Executed events of everybody else that are kept."""

MAX_TEXT: Final = 20_000
"""Characters of a text among an action's parameters."""

_ENVELOPE: Final = frozenset({"operation", "modality_type", "timestamp", "input_id"})
"""The fields of every event's data, which are not parameters."""

_NESTED: Final = "_data"
"""How the names of nested objects end, such as `message_data`."""

_FORBIDDEN: Final = frozenset({401, 403})
_REASONS: Final = {
    401: "the call had no valid key",
    403: "the assistant's key does not permit this",
    404: "there is no such call or item",
    422: "the call was invalid",
}
_READING: Final = re.compile(r"^/[^/]+/(?:state|query)\b|^/mcp/\w+_(?:state|query)$")

_ACTIONS: Final = {
    path: f"{modality.name}.{operation.name}"
    for modality in MODALITIES
    for operation in modality.operations()
    for path in (operation.path, f"/mcp/{operation.tool_name}")
}
"""By the path of a call, the name of its action in events."""

_ENDED: Final = frozenset({"executed", "failed"})


class ActionLogBuilder:
    """Collects the actions of the assistant turn by turn. Each event counts once."""

    def __init__(self, purple_agent_id: str) -> None:
        """`purple_agent_id`: the id of the assistant's key."""
        self.agent_id = purple_agent_id
        self._turn: int | None = None
        self._seen: set[str] = set()
        self._entries: list[ActionLogEntry] = []
        self._others: list[Event] = []
        self._listed: list[OtherEvent] = []
        self._unread = 0
        self.refused_until: datetime | None = None
        """The wall-clock time of the latest refused call that was added."""
        self.omitted = 0
        """Actions beyond `MAX_ACTIONS`, and events that nobody read."""

    def start_turn(self, turn: int) -> None:
        """Begins a turn. Raises ValueError if the turn before it has not ended."""
        if self._turn is not None:
            raise ValueError(f"turn {self._turn} has not ended")
        self._turn = turn

    def add_events_from_turn(self, events: Iterable[Event]) -> tuple[list[ActionLogEntry], list[Event]]:
        """Adds the executed and failed events of the turn that are new. Raises ValueError outside a turn.

        Returns the entries of the assistant's actions, and the events of everybody else.
        """
        if self._turn is None:
            raise ValueError("no turn has begun")
        entries, others = [], []
        for event in events:
            if event.status not in _ENDED or event.event_id in self._seen:
                continue
            self._seen.add(event.event_id)
            if event.agent_id == self.agent_id:
                entries.append(_entry(self._turn, event))
            else:
                others.append(event)
        logged = entries[: MAX_ACTIONS - len(self._entries)]
        self.omitted += len(entries) - len(logged)
        self._entries += logged
        executed = [event for event in others if event.status == "executed"]
        self._others += executed
        self._listed += [
            listed(self._turn, event, _flat(event.data or {})) for event in executed[: MAX_LISTED - len(self._listed)]
        ]
        return entries, others

    def add_refusals(self, calls: Iterable[RefusedCall], now: datetime) -> list[ActionLogEntry]:
        """Adds the calls of the turn that the environment refused, as failed actions at a simulated time.

        Calls that only read count if they were forbidden. Raises ValueError outside a turn. Returns the entries.
        """
        if self._turn is None:
            raise ValueError("no turn has begun")
        tried = [each for each in calls if each.status_code in _FORBIDDEN or not _reads(each)]
        self.refused_until = max((each.timestamp for each in tried), default=self.refused_until)
        entries = [_refused(self._turn, each, now) for each in tried]
        logged = entries[: max(0, min(MAX_REFUSALS, MAX_ACTIONS - len(self._entries)))]
        self.omitted += len(entries) - len(logged)
        self._entries += logged
        return entries

    def leave_out(self, events: int) -> None:
        """Counts events of the turn that are too many to read. Most of so many are the assistant's actions."""
        self._unread += events
        self.omitted += events

    def end_turn(self) -> None:
        """Ends the turn. Raises ValueError outside a turn."""
        if self._turn is None:
            raise ValueError("no turn has begun")
        self._turn = None

    def get_log(self) -> list[ActionLogEntry]:
        """The entries of all turns, in the order of execution, at most `MAX_ACTIONS`."""
        return list(self._entries)

    def get_other_events(self) -> list[dict[str, Any]] | None:
        """The modality and data of the executed events of everybody else. None if not all could be kept."""
        if self._unread or len(self._others) > MAX_OTHER_EVENTS:
            return None
        return [{"modality": event.modality, "data": _flat(event.data or {})} for event in self._others]

    def get_listed_events(self) -> list[OtherEvent]:
        """The first `MAX_LISTED` of these events in short form, in the order of execution."""
        return list(self._listed)

    @property
    def other_events_omitted(self) -> int:
        """The number of these events that are not listed."""
        return len(self._others) - len(self._listed)


def _entry(turn: int, event: Event) -> ActionLogEntry:
    data = _flat(event.data or {})
    parameters = {name: value for name, value in data.items() if value is not None and name not in _ENVELOPE}
    return ActionLogEntry(
        turn=turn,
        timestamp=event.executed_at or event.scheduled_time,
        action=f"{event.modality}.{data.get('operation', 'unknown')}",
        parameters=shortened(parameters, MAX_TEXT),
        success=event.status == "executed",
        error_message=event.error_message,
    )


def _reads(call: RefusedCall) -> bool:
    return call.method == "GET" or _READING.match(call.path) is not None


def _refused(turn: int, call: RefusedCall, now: datetime) -> ActionLogEntry:
    """A refused call. It has the name of the action that it would have been, or one made of its path: `time.advance`
    for `/time/advance`."""
    modality, *rest = [re.sub(r"\W", "_", part)[:40] for part in call.path.split("/") if part] or ["root"]
    named = _ACTIONS.get(call.path.rstrip("/"))
    why = _REASONS.get(call.status_code, "the environment refused the call")
    return ActionLogEntry(
        turn=turn,
        timestamp=now,
        action=named or f"{modality}.{rest[0] if rest else call.method.lower()}",
        parameters={"call": f"{call.method} {call.path[:200]}"},
        success=False,
        error_message=f"{why} ({call.status_code})",
    )


def _flat(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The data of an event with all fields on one level.

    As in UES, the events of text messages have the operation as `action`, and its fields in a nested object.
    """
    if "operation" in data or "action" not in data:
        return data
    flat = {name: value for name, value in data.items() if name != "action" and not name.endswith(_NESTED)}
    for name, value in data.items():
        if name.endswith(_NESTED) and isinstance(value, dict):
            flat |= value
    return flat | {"operation": data["action"]}
