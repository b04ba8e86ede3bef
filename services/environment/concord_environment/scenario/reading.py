"""A scenario document as a simulation."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from concord_environment.core.chain import GENESIS
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Position
from concord_environment.core.events import Event
from concord_environment.core.faults import Invalid
from concord_environment.core.identity import event_id, namespace
from concord_environment.core.simulation import Simulation
from concord_environment.core.tables import Table
from concord_environment.core.world import Terms
from concord_environment.modalities.calendar.records import PRIMARY, CalendarSettings
from concord_environment.modalities.calendar.recurrence import check
from concord_environment.modalities.chat.records import ChatSettings
from concord_environment.modalities.email.records import EmailAccount
from concord_environment.modalities.location.records import Place
from concord_environment.modalities.preferences.records import TimePreferences
from concord_environment.modalities.registry import apply, parse, reasons
from concord_environment.modalities.sms.records import SMSAccount
from concord_environment.modalities.states import SELF, Upkeep
from concord_environment.modalities.weather.records import WeatherReport
from concord_environment.modalities.world import EnvironmentWorld
from concord_environment.scenario import states
from concord_environment.scenario.documents import EnvironmentDocument, EventDocument, EventsDocument


@dataclass(frozen=True, slots=True)
class Reading:
    """A simulation read from documents, and which modalities were there and which nobody knows."""

    simulation: Simulation[EnvironmentWorld]
    loaded: tuple[str, ...]
    skipped: tuple[str, ...]


def read_scenario(
    environment: EnvironmentDocument,
    events: EventsDocument,
    *,
    seed: int,
    strict: bool = True,
    regenerate_ids: bool = False,
) -> Reading:
    """The simulation that a scenario describes. Invalid, with the reason; in strict mode also for unknown modalities.

    Its ids differ from those in the documents, even where these came from a simulation of the same seed.
    """
    unknown = tuple(sorted(set(environment.modality_states) - set(states.DOCUMENTS)))
    if unknown and strict:
        raise Invalid(f"modality_states: nobody knows {', '.join(unknown)}")
    world = EnvironmentWorld()
    for modality, document in _documents(environment):
        world.keep_up(modality, Upkeep(document.last_updated, document.update_count))
        _READERS[modality](world, document)
    lineage = _digest(environment, events)
    space = namespace(seed, lineage)
    rows = [
        _event(document, sequence, start_at=environment, new_id=event_id(space, sequence), regenerate=regenerate_ids)
        for sequence, document in enumerate(events.events, start=1)
    ]
    if len({row.event_id for row in rows}) < len(rows):
        raise Invalid("events: two events have one event_id")
    start = to_us(environment.time_state.current_time)
    position = Position(start, len(rows), sha256(f"{GENESIS}{lineage}".encode()).hexdigest())
    simulation = Simulation(world, apply, position, rows, Terms(seed, lineage))
    return Reading(simulation, tuple(sorted(set(environment.modality_states) - set(unknown))), unknown)


def _digest(*documents: BaseModel) -> str:
    return sha256("\n".join(document.model_dump_json() for document in documents).encode()).hexdigest()


def _documents(environment: EnvironmentDocument) -> Iterator[tuple[str, Any]]:
    for modality, document_type in states.DOCUMENTS.items():
        if modality not in environment.modality_states:
            continue
        given = {"last_updated": environment.time_state.current_time, **environment.modality_states[modality]}
        try:
            document = document_type.model_validate({"modality_type": modality, **given})
        except ValidationError as error:
            raise Invalid(f"modality_states.{modality}: {reasons(error)}") from error
        if document.modality_type != modality:
            raise Invalid(f"modality_states.{modality}: its modality_type is {document.modality_type!r}")
        yield modality, document


def _event(
    document: EventDocument, sequence: int, *, start_at: EnvironmentDocument, new_id: str, regenerate: bool
) -> Event:
    return Event(
        event_id=new_id if regenerate or document.event_id is None else document.event_id,
        sequence=sequence,
        scheduled_time=document.scheduled_time,
        action=parse(document.modality, document.data),
        created_at=document.created_at or start_at.time_state.current_time,
        agent_id=document.agent_id,
        priority=document.priority,
        status=document.status,
        executed_at=document.executed_at,
        error_message=document.error_message,
        metadata=dict(document.metadata),
    )


def _fill(table: Table[Any], rows: Mapping[str, Any], id_name: str) -> None:
    for key, row in rows.items():
        if getattr(row, id_name) != key:
            raise Invalid(f"{table.name}: {key!r} names itself {getattr(row, id_name)!r}")
        table.write(key, row)


def _email(world: EnvironmentWorld, document: states.EmailDocument) -> None:
    world.email.account.write(SELF, EmailAccount(document.user_email_address))
    _fill(world.email.emails, document.emails, "message_id")


def _sms(world: EnvironmentWorld, document: states.SMSDocument) -> None:
    account = SMSAccount(document.user_phone_number, document.max_messages_per_conversation)
    world.sms.account.write(SELF, account)
    _fill(world.sms.conversations, document.conversations, "thread_id")
    _fill(world.sms.messages, document.messages, "message_id")


def _chat(world: EnvironmentWorld, document: states.ChatDocument) -> None:
    world.chat.settings.write(SELF, ChatSettings(document.max_history_size, document.default_conversation_id))
    _fill(world.chat.conversations, document.conversations, "conversation_id")
    _fill(world.chat.messages, {message.message_id: message for message in document.messages}, "message_id")


def _calendar(world: EnvironmentWorld, document: states.CalendarDocument) -> None:
    state = world.calendar
    if document.calendars:
        state.calendars.write(PRIMARY, None)
    _fill(state.calendars, document.calendars, "calendar_id")
    if document.default_calendar_id not in state.calendars:
        raise Invalid(f"modality_states.calendar: the default calendar {document.default_calendar_id!r} is missing")
    state.settings.write(SELF, CalendarSettings(document.default_calendar_id, document.user_timezone))
    for event in document.events.values():
        if event.calendar_id not in state.calendars:
            raise Invalid(f"modality_states.calendar: event {event.event_id!r} is in no calendar")
        check(event)
    _fill(state.events, document.events, "event_id")


def _contacts(world: EnvironmentWorld, document: states.ContactsDocument) -> None:
    _fill(world.contacts.contacts, document.contacts, "contact_id")


def _location(world: EnvironmentWorld, document: states.LocationDocument) -> None:
    places = list(document.location_history)
    current = {
        name: getattr(document, f"current_{name}") for name in states.PlaceDocument.model_fields if name != "timestamp"
    }
    if current["latitude"] is not None and current["longitude"] is not None:
        places.append(states.PlaceDocument(timestamp=document.last_updated, **current))
    for sequence, place in enumerate(places):
        row = Place(place_id=f"place-{sequence}", sequence=sequence, **place.model_dump())
        world.location.places.write(row.place_id, row)


def _weather(world: EnvironmentWorld, document: states.WeatherDocument) -> None:
    for name, place in document.locations.items():
        latest = states.ReportDocument(timestamp=place.last_updated, report=place.current_report)
        for sequence, one in enumerate([*place.report_history, latest]):
            report_id = f"{name}-{sequence}"
            report = WeatherReport(
                report_id, name, place.latitude, place.longitude, one.timestamp, one.report, sequence
            )
            world.weather.reports.write(report_id, report)


def _preferences(world: EnvironmentWorld, document: states.PreferencesDocument) -> None:
    preferences = TimePreferences(
        document.timezone,
        document.format_preference,
        document.date_format,
        document.locale,
        document.week_start,
    )
    world.preferences.preferences.write(SELF, preferences)


_READERS: Final[dict[str, Callable[[EnvironmentWorld, Any], None]]] = {
    "calendar": _calendar,
    "chat": _chat,
    "contacts": _contacts,
    "email": _email,
    "location": _location,
    "sms": _sms,
    "time": _preferences,
    "weather": _weather,
}
