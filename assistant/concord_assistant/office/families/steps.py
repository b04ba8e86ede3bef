"""The actions of an oracle, as errands list them."""

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from pydantic import JsonValue

from concord_assistant.office.forms import filled
from concord_assistant.office.plan import Desk, OracleStep


def sends(turn: int, to: str, subject: str, text: str, **more: Any) -> OracleStep:  # noqa: ANN401 - parameters
    """An email, or a text message to a number."""
    if "@" not in to:
        return OracleStep(turn=turn, action="sms.send_message", parameters={"to_numbers": [to], "body": text})
    parameters = {"to_addresses": [to], "subject": subject, "body_text": text, **more}
    return OracleStep(turn=turn, action="email.send", parameters=parameters)


def asks(turn: int, question: str) -> OracleStep:
    """A question to the user."""
    return OracleStep(turn=turn, action="chat.send_message", parameters={"content": question})


def fills(turn: int, desk: Desk, values: Mapping[str, str]) -> OracleStep:
    """A form to its desk."""
    return sends(turn, desk.address, desk.title, filled(desk, values))


def books(turn: int, title: str, start: datetime, end: datetime, guests: tuple[str, ...] = ()) -> OracleStep:
    """A new appointment."""
    parameters: dict[str, Any] = {"title": title, "start": start.isoformat(), "end": end.isoformat()}
    if guests:
        parameters["attendees"] = [{"email": each} for each in guests]
    return OracleStep(turn=turn, action="calendar.create", parameters=parameters)


def titled(title: str) -> dict[str, JsonValue]:
    """The id of the appointment of that title, to be found when the oracle acts."""
    return {"find": "calendar", "where": {"title": title}, "field": "event_id"}


def removes(turn: int, title: str) -> OracleStep:
    """Takes the appointment of that title away."""
    return OracleStep(turn=turn, action="calendar.delete", parameters={"event_id": titled(title)})


def reads(turn: int, subject: str) -> OracleStep:
    """Waits for mails of that subject, and marks them as read."""
    found: JsonValue = {"find": "email", "where": {"subject": subject}, "field": "message_id", "pick": "all"}
    return OracleStep(turn=turn, action="email.mark_read", parameters={"message_ids": found})


def updates(turn: int, event_id: JsonValue, start: datetime, end: datetime, day: date | None = None) -> OracleStep:
    """New times of an appointment. `day`: of a series, the date that is moved."""
    parameters: dict[str, Any] = {"event_id": event_id, "start": start.isoformat(), "end": end.isoformat()}
    if day is not None:
        parameters |= {"recurrence_scope": "this", "recurrence_id": day.isoformat()}
    return OracleStep(turn=turn, action="calendar.update", parameters=parameters)


def responds(turn: int, event_id: str, response: str) -> OracleStep:
    """A response to an invitation."""
    return OracleStep(turn=turn, action="calendar.respond", parameters={"event_id": event_id, "response": response})
