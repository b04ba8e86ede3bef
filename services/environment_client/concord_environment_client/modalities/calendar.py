"""The calls of the modality `calendar`: the user's calendars and their events."""

from typing import ClassVar, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import Endpoint, S
from concord_environment_client.operations import (
    CHANGES_ANY,
    CREATES,
    FLAG,
    NUMBER,
    TEXT,
    TIME,
    Effect,
    Items,
    ModalityCalls,
    Operation,
    QueryCall,
    Schema,
    StateCall,
    Tool,
    changes,
    deletes,
)
from concord_environment_client.responses import Json

_DETAILS: Final[dict[str, Schema]] = {
    "location": TEXT,
    "description": TEXT,
    "attendees": {
        "type": "array",
        "items": {"type": "object", "properties": {"email": TEXT, "name": TEXT}, "required": ["email"]},
    },
    "reminders": {
        "type": "array",
        "items": {"type": "object", "properties": {"minutes_before": {"type": "integer"}}},
    },
    "recurrence": {"type": "object", "description": "frequency, interval, days_of_week, count, end_date"},
}
_SCOPE: Final[dict[str, Schema]] = {
    "recurrence_scope": {"type": "string", "enum": ["this", "this_and_future", "all"]},
    "recurrence_id": {"type": "string", "description": "the date of the occurrence"},
}
_TIMES: Final[dict[str, Schema]] = {"title": TEXT, "start": TIME, "end": TIME}

_QUERY: Final = Tool(
    "Finds calendar events, by start. Expands series with expand_recurring.",
    takes={"start": TIME, "end": TIME, "search": TEXT, "expand_recurring": FLAG, "limit": NUMBER},
    defaults={"limit": 200},
)
_CREATE: Final = Tool("Creates a calendar event. Attendees get an invitation.", _TIMES, _DETAILS)
_UPDATE: Final = Tool("Changes the given fields of an event.", {"event_id": TEXT}, {**_TIMES, **_DETAILS, **_SCOPE})
_DELETE: Final = Tool("Deletes an event.", {"event_id": TEXT}, _SCOPE)
_RESPOND: Final = Tool(
    "Responds to an invitation as the user.",
    {"event_id": TEXT, "response": {"type": "string", "enum": ["accepted", "declined", "tentative"]}},
    {"comment": TEXT},
)

_STAMPS: Final = frozenset({"created_at", "updated_at"})


class CalendarCalls(ModalityCalls[S]):
    """The user's calendars."""

    name: ClassVar = "calendar"
    items: ClassVar = (
        Items("events", "event_id", "start", content=("title", "start"), kept=_STAMPS | {"sequence"}),
        Items("calendars", "calendar_id", kept=_STAMPS | {"event_ids", "event_count"}),
    )

    get_state = StateCall("/calendar/state", responses.CalendarState)
    query = QueryCall("/calendar/query", responses.FoundEvents, _QUERY)
    create = Operation("/calendar/create", "create", CREATES, _CREATE)
    update = Operation("/calendar/update", "update", CHANGES_ANY, _UPDATE)
    delete = Operation("/calendar/delete", "delete", deletes("status"), _DELETE)
    respond_to_event = Operation("/calendar/respond", "respond", changes("attendees"), _RESPOND)
    list_calendars = Endpoint("GET", "/calendar/calendars", Json)
    create_calendar = Operation("/calendar/calendars/create", "create_calendar", CREATES)
    update_calendar = Operation("/calendar/calendars/update", "update_calendar", CHANGES_ANY)
    delete_calendar = Operation("/calendar/calendars/delete", "delete_calendar", Effect(empties="calendar_id"))
    set_default_calendar = Operation(
        "/calendar/calendars/set-default",
        "set_default_calendar",
        CHANGES_ANY,
        granted_by="calendar:calendars:default",
    )
