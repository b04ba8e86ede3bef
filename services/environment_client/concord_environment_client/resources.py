"""The calls of the environment service apart from those of the modalities, by resource."""

from types import NoneType
from typing import Any, Final

from concord_environment_client import responses
from concord_environment_client.endpoints import Endpoint, Resource, S
from concord_environment_client.responses import Json

_NOTHING: Final[Any] = NoneType


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
    """Start and stop, undo and redo, and the hash chain."""

    start = Endpoint("POST", "/simulation/start", Json)
    stop = Endpoint("POST", "/simulation/stop", Json)
    status = Endpoint("GET", "/simulation/status", responses.SimulationStatus)
    reset = Endpoint("POST", "/simulation/reset", Json)
    clear = Endpoint("POST", "/simulation/clear", Json)
    undo = Endpoint("POST", "/simulation/undo", Json)
    redo = Endpoint("POST", "/simulation/redo", Json)
    chain = Endpoint("GET", "/simulation/chain", Json)


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


class AccessLogs(Resource[S]):
    """The log of the latest calls."""

    list_entries = Endpoint("GET", "/access-logs", Json)
    stats = Endpoint("GET", "/access-logs/stats", Json)
    clear = Endpoint("POST", "/access-logs/clear", Json)


class People(Resource[S]):
    """Further people in the process, whose calls a client with the base URL `URL/people/ID` makes."""

    create = Endpoint("POST", "/people", Json)
    list_people = Endpoint("GET", "/people", Json)
    delete = Endpoint("DELETE", "/people/{person_id}", _NOTHING)
    advance = Endpoint("POST", "/people/advance", Json)
