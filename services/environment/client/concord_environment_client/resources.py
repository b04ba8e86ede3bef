"""All calls of the environment service, by resource. A test compares them with the OpenAPI document."""

from types import NoneType
from typing import Any, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import Endpoint, Resource, S
from concord_environment_client.responses import ActionResult, Json

_NOTHING: Final[Any] = NoneType


def _action(path: str) -> Endpoint[ActionResult]:
    return Endpoint("POST", path, ActionResult)


class Keys(Resource[S]):
    """API keys."""

    create = Endpoint("POST", "/keys", responses.NewKey)
    list_keys = Endpoint("GET", "/keys", Json)
    get = Endpoint("GET", "/keys/{key_id}", responses.KeyView)
    revoke = Endpoint("DELETE", "/keys/{key_id}", Json)


class Time(Resource[S]):
    """The simulated clock."""

    get_state = Endpoint("GET", "/simulator/time", responses.TimeState)
    advance = Endpoint("POST", "/simulator/time/advance", responses.Advanced)
    set = Endpoint("POST", "/simulator/time/set", responses.TimeSet)
    skip_to_next = Endpoint("POST", "/simulator/time/skip-to-next", responses.SkippedToNext)
    pause = Endpoint("POST", "/simulator/time/pause", Json)
    resume = Endpoint("POST", "/simulator/time/resume", Json)
    set_scale = Endpoint("POST", "/simulator/time/set-scale", responses.TimeState)


class SimulationControl(Resource[S]):
    """Start and stop, undo and redo, holds, replays, branches and snapshots."""

    start = Endpoint("POST", "/simulation/start", Json)
    stop = Endpoint("POST", "/simulation/stop", Json)
    status = Endpoint("GET", "/simulation/status", responses.SimulationStatus)
    reset = Endpoint("POST", "/simulation/reset", Json)
    clear = Endpoint("POST", "/simulation/clear", Json)
    undo = Endpoint("POST", "/simulation/undo", Json)
    redo = Endpoint("POST", "/simulation/redo", Json)
    hold = Endpoint("POST", "/simulation/hold", Json)
    release = Endpoint("POST", "/simulation/release/{hold_id}", Json)
    list_holds = Endpoint("GET", "/simulation/holds", Json)
    chain = Endpoint("GET", "/simulation/chain", Json)
    replay = Endpoint("POST", "/simulation/replay", Json)
    fork = Endpoint("POST", "/simulation/fork", Json)
    list_branches = Endpoint("GET", "/simulation/branches", Json)
    delete_branch = Endpoint("DELETE", "/simulation/branches/{branch_id}", _NOTHING)
    snapshot = Endpoint("POST", "/simulation/snapshot", Json)


class EnvironmentStates(Resource[S]):
    """The state of all modalities."""

    get_state = Endpoint("GET", "/environment/state", Json)
    list_modalities = Endpoint("GET", "/environment/modalities", Json)
    validate = Endpoint("POST", "/environment/validate", Json)


class Events(Resource[S]):
    """Scheduled and executed events."""

    list_events = Endpoint("GET", "/events", responses.EventList)
    create = Endpoint("POST", "/events", responses.Event)
    create_immediate = Endpoint("POST", "/events/immediate", responses.Event)
    create_batch = Endpoint("POST", "/events/batch", responses.BatchResult)
    next = Endpoint("GET", "/events/next", responses.Event)
    summary = Endpoint("GET", "/events/summary", Json)
    get = Endpoint("GET", "/events/{event_id}", responses.Event)
    cancel = Endpoint("DELETE", "/events/{event_id}", Json)


class Scenario(Resource[S]):
    """Export and import of scenarios."""

    export_full = Endpoint("GET", "/scenario/export/full", Json)
    export_environment = Endpoint("GET", "/scenario/export/environment", Json)
    export_events = Endpoint("GET", "/scenario/export/events", Json)
    import_full = Endpoint("POST", "/scenario/import/full", responses.ImportReport)
    import_environment = Endpoint("POST", "/scenario/import/environment", responses.ImportReport)
    import_events = Endpoint("POST", "/scenario/import/events", responses.ImportReport)


class Email(Resource[S]):
    """The user's mailbox."""

    get_state = Endpoint("GET", "/email/state", responses.EmailState)
    query = Endpoint("POST", "/email/query", responses.FoundEmails)
    send = _action("/email/send")
    receive = _action("/email/receive")
    mark_read = _action("/email/read")
    mark_unread = _action("/email/unread")
    star = _action("/email/star")
    unstar = _action("/email/unstar")
    archive = _action("/email/archive")
    delete = _action("/email/delete")
    add_labels = _action("/email/label")
    remove_labels = _action("/email/unlabel")
    move = _action("/email/move")
    export_mbox = Endpoint("GET", "/email/export/mbox", bytes)
    export_eml = Endpoint("GET", "/email/export/eml", bytes)
    import_mbox = Endpoint("POST", "/email/import/mbox", Json)
    import_eml = Endpoint("POST", "/email/import/eml", Json)


class SMS(Resource[S]):
    """The user's text messages."""

    get_state = Endpoint("GET", "/sms/state", responses.SMSState)
    query = Endpoint("POST", "/sms/query", responses.FoundMessages)
    send = _action("/sms/send")
    receive = _action("/sms/receive")
    mark_read = _action("/sms/read")
    mark_unread = _action("/sms/unread")
    delete = _action("/sms/delete")
    react = _action("/sms/react")
    remove_reaction = _action("/sms/unreact")
    edit = _action("/sms/edit")
    create_group = _action("/sms/group")
    update_group = _action("/sms/group-update")
    add_participant = _action("/sms/participant-add")
    remove_participant = _action("/sms/participant-remove")
    leave_group = _action("/sms/leave")
    update_conversation = _action("/sms/conversation")
    update_delivery = _action("/sms/delivery")


class Chat(Resource[S]):
    """The chat between the user and the assistant."""

    get_state = Endpoint("GET", "/chat/state", responses.ChatState)
    query = Endpoint("POST", "/chat/query", responses.FoundChat)
    send = _action("/chat/send")
    delete = _action("/chat/delete")
    clear = _action("/chat/clear")


class Calendar(Resource[S]):
    """The user's calendars."""

    get_state = Endpoint("GET", "/calendar/state", responses.CalendarState)
    query = Endpoint("POST", "/calendar/query", responses.FoundEvents)
    create = _action("/calendar/create")
    update = _action("/calendar/update")
    delete = _action("/calendar/delete")
    respond_to_event = _action("/calendar/respond")
    list_calendars = Endpoint("GET", "/calendar/calendars", Json)
    create_calendar = _action("/calendar/calendars/create")
    update_calendar = _action("/calendar/calendars/update")
    delete_calendar = _action("/calendar/calendars/delete")
    set_default_calendar = _action("/calendar/calendars/set-default")
    export_ics = Endpoint("GET", "/calendar/export/ics", bytes)
    import_ics = Endpoint("POST", "/calendar/import/ics", Json)


class Contacts(Resource[S]):
    """The user's address book."""

    get_state = Endpoint("GET", "/contacts/state", Json)
    query = Endpoint("POST", "/contacts/query", Json)
    create = _action("/contacts/create")
    update = _action("/contacts/update")
    delete = _action("/contacts/delete")
    block = _action("/contacts/block")
    unblock = _action("/contacts/unblock")


class Location(Resource[S]):
    """The user's current and earlier places."""

    get_state = Endpoint("GET", "/location/state", Json)
    query = Endpoint("POST", "/location/query", Json)
    update = _action("/location/update")


class Weather(Resource[S]):
    """Weather reports by place."""

    get_state = Endpoint("GET", "/weather/state", Json)
    query = Endpoint("POST", "/weather/query", Json)
    update = _action("/weather/update")


class Preferences(Resource[S]):
    """The user's preferences for times and dates."""

    get_state = Endpoint("GET", "/time/state", Json)
    query = Endpoint("POST", "/time/query", Json)
    update = _action("/time/update")


class AccessLogs(Resource[S]):
    """The log of the latest calls."""

    list_entries = Endpoint("GET", "/access-logs", Json)
    stats = Endpoint("GET", "/access-logs/stats", Json)
    clear = Endpoint("POST", "/access-logs/clear", Json)


class Webhooks(Resource[S]):
    """Webhooks, which receive notices over HTTP."""

    register = Endpoint("POST", "/webhooks", Json)
    list_webhooks = Endpoint("GET", "/webhooks", Json)
    get = Endpoint("GET", "/webhooks/{webhook_id}", Json)
    update = Endpoint("PATCH", "/webhooks/{webhook_id}", Json)
    delete = Endpoint("DELETE", "/webhooks/{webhook_id}", _NOTHING)
    test = Endpoint("POST", "/webhooks/{webhook_id}/test", Json)
    pause = Endpoint("POST", "/webhooks/{webhook_id}/pause", Json)
    resume = Endpoint("POST", "/webhooks/{webhook_id}/resume", Json)
    get_deliveries = Endpoint("GET", "/webhooks/{webhook_id}/deliveries", Json)
