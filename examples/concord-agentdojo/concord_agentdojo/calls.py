"""Calls of AgentDojo's tools as actions in the environment, in the form of `oracle.json`."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from concord_agentdojo.suite import Call, Environment, Event

READING: Final = frozenset(
    {
        *("get_current_day", "search_calendar_events", "get_day_calendar_events"),
        *("search_emails", "get_sent_emails", "get_received_emails", "get_draft_emails"),
        *("search_contacts_by_name", "search_contacts_by_email"),
    }
)
"""Tools that change nothing."""

DRIVE: Final = frozenset(
    {
        *("append_to_file", "create_file", "delete_file", "get_file_by_id", "list_files"),
        *("search_files", "search_files_by_filename", "share_file"),
    }
)
"""Tools of the cloud drive. The environment has no files."""

Action = dict[str, Any]


class NotRepresentableError(Exception):
    """The environment has no counterpart of a call."""


def message_id_of(email: str) -> str:
    """The `message_id` of an imported email, from AgentDojo's number."""
    return f"email_{email}"


def event_id_of(event: str) -> str:
    """The `event_id` of an imported event, from AgentDojo's number."""
    return f"event_{event}"


def moment(time: datetime) -> str:
    """A time without a zone as a time in UTC."""
    return f"{time.isoformat()}Z"


def drive_calls(calls: Sequence[Call]) -> list[str]:
    """The tools of the cloud drive among the calls, each once."""
    return list(dict.fromkeys(call.function for call in calls if call.function in DRIVE))


def oracle_of(environment: Environment, calls: Sequence[Call], output: str) -> dict[str, Any]:
    """An oracle that makes the calls and then sends the user `output`. Without calls, it has no actions. Raises
    NotRepresentableError."""
    performed = _Performed(environment)
    for call in calls:
        performed.perform(call)
    if output:
        performed.act("chat.send_message", content=output)
    return {"actions": performed.actions}


@dataclass(slots=True)
class _Sent:
    """An email that a call sent: the turn, and the fields that identify the email."""

    turn: int
    where: Mapping[str, Any]


@dataclass(slots=True)
class _Performed:
    """The actions so far, and AgentDojo's numbers of the emails that they sent."""

    environment: Environment
    actions: list[Action] = field(default_factory=list)
    turn: int = 1
    _emails: dict[str, _Sent | None] = field(init=False)
    """AgentDojo's emails so far, by AgentDojo's numbers. None: imported, or sent by AgentDojo's calendar."""
    _read: set[str] = field(default_factory=set)
    _events: dict[str, Event] = field(init=False)

    def __post_init__(self) -> None:
        self._emails = dict.fromkeys(email.id_ for email in self.environment.emails)
        self._events = {event.id_: event for event in self.environment.events}

    def act(self, action: str, **parameters: Any) -> None:  # noqa: ANN401 - JSON
        """Adds an action to the current turn, without the parameters that are None."""
        given = {name: value for name, value in parameters.items() if value is not None}
        self.actions.append({"turn": self.turn, "action": action, "parameters": given})

    def perform(self, call: Call) -> None:
        """Adds the actions of a call. Raises NotRepresentableError."""
        if call.function in READING:
            return
        if call.function not in _PERFORM:
            raise NotRepresentableError(f"the environment has nothing like {call.function}")
        _PERFORM[call.function](self, **call.args)

    def send(
        self,
        recipients: list[str],
        subject: str,
        body: str,
        attachments: list[Any] | None = None,
        cc: list[str] | None = None,
        bcc: list[str] | None = None,
    ) -> None:
        """`send_email`."""
        if attachments:
            raise NotRepresentableError("the environment's emails have no attachments with content")
        self.act(
            "email.send",
            to_addresses=recipients,
            subject=subject,
            body_text=body,
            cc_addresses=cc,
            bcc_addresses=bcc,
        )
        self._number(_Sent(self.turn, {"subject": subject, "to_addresses": recipients[0], "folder": "sent"}))

    def delete(self, email_id: str) -> None:
        """`delete_email`. An email that was sent in this turn exists from the next turn on."""
        if email_id not in self._emails:
            return
        sent = self._emails.pop(email_id)
        if sent is None:
            self.act("email.delete", message_ids=[message_id_of(email_id)])
            return
        self.turn = max(self.turn, sent.turn + 1)
        found = {"find": "email", "where": dict(sent.where), "field": "message_id", "pick": "latest"}
        self.act("email.delete", message_ids=[found])

    def read_unread(self) -> None:
        """`get_unread_emails`, which marks them as read."""
        found = [
            each.id_ for each in self.environment.unread if each.id_ in self._emails and each.id_ not in self._read
        ]
        self._read.update(found)
        if found:
            self.act("email.mark_read", message_ids=[message_id_of(each) for each in found])

    def create(
        self,
        title: str,
        start_time: str,
        end_time: str,
        description: str = "",
        participants: list[str] | None = None,
        location: str | None = None,
    ) -> None:
        """`create_calendar_event`, which sends an invitation by email in AgentDojo. The environment sends none."""
        self.act(
            "calendar.create",
            title=title,
            start=moment(datetime.fromisoformat(start_time)),
            end=moment(datetime.fromisoformat(end_time)),
            description=description or None,
            attendees=[{"email": each} for each in participants] if participants else None,
            location=location,
        )
        self._number(None)

    def reschedule(self, event_id: str, new_start_time: str, new_end_time: str | None = None) -> None:
        """`reschedule_calendar_event`, which informs the participants by email in AgentDojo. The environment sends
        none."""
        event, start = self._events[event_id], datetime.fromisoformat(new_start_time)
        end = start + (event.end_time - event.start_time)
        if new_end_time is not None:
            end = datetime.fromisoformat(new_end_time)
        self.act("calendar.update", event_id=event_id_of(event_id), start=moment(start), end=moment(end))
        self._number(None)

    def add_participants(self, event_id: str, participants: list[str]) -> None:
        """`add_calendar_event_participants`."""
        invited = [*self._events[event_id].participants, *participants]
        self.act(
            "calendar.update",
            event_id=event_id_of(event_id),
            attendees=[{"email": each} for each in dict.fromkeys(invited)],
        )

    def _number(self, sent: _Sent | None) -> None:
        """Records the number of an email that AgentDojo sends: one more than the highest number so far."""
        self._emails[str(max((int(each) for each in self._emails), default=0) + 1)] = sent


_PERFORM: Final[Mapping[str, Callable[..., None]]] = {
    "send_email": _Performed.send,
    "delete_email": _Performed.delete,
    "get_unread_emails": _Performed.read_unread,
    "create_calendar_event": _Performed.create,
    "reschedule_calendar_event": _Performed.reschedule,
    "add_calendar_event_participants": _Performed.add_participants,
}
