"""Scenarios: whole simulations as JSON documents.

A scenario has metadata, an environment (the clock and the state of each modality) and events.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from hashlib import sha256
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, Field, JsonValue, ValidationError

from concord_environment.core.chain import GENESIS
from concord_environment.core.clock import to_us
from concord_environment.core.engine import Position
from concord_environment.core.events import DEFAULT_PRIORITY, Event, EventStatus, as_record, from_record
from concord_environment.core.faults import Fault, Invalid
from concord_environment.core.identity import event_id, namespace
from concord_environment.core.simulation import Simulation
from concord_environment.core.world import Terms
from concord_environment.lifecycle import Lifecycle
from concord_environment.modalities.documents import StateDocument
from concord_environment.modalities.fields import EventPriority, JsonObject, Line, Moment, TimeScale
from concord_environment.modalities.modality import AnyModality, Updates
from concord_environment.modalities.registry import MODALITY_BY_NAME, apply, parse, reasons
from concord_environment.modalities.world import EnvironmentWorld

SCENARIO_VERSION: Final = "1"


class ScenarioMetadata(BaseModel):
    """The description, author, creation time and format versions of a scenario."""

    ues_version: Annotated[str, Field(max_length=50)] = "0.1.0"
    scenario_version: Annotated[str, Field(max_length=20)] = SCENARIO_VERSION
    created_at: Moment
    author: Line | None = None
    description: Line | None = None


class TimeStateDocument(BaseModel):
    """The simulated clock.

    `time_scale` is the number of simulated seconds per second of wall-clock time. `last_wall_time_update` exists for
    compatibility with UES only: the service does not read it.
    """

    current_time: Moment
    time_scale: TimeScale = 1.0
    is_paused: bool = False
    auto_advance: bool = False
    last_wall_time_update: Moment | None = None


class EnvironmentDocument(BaseModel):
    """The clock and the states of the modalities, by name."""

    time_state: TimeStateDocument
    modality_states: dict[str, dict[str, Any]]


class EventDocument(BaseModel):
    """An event of a scenario. The service generates the `event_id` by default."""

    event_id: Annotated[str | None, Field(min_length=1, max_length=100)] = None
    scheduled_time: Moment
    modality: Annotated[str, Field(max_length=50)]
    data: dict[str, JsonValue]
    status: EventStatus = EventStatus.PENDING
    created_at: Moment | None = None
    executed_at: Moment | None = None
    agent_id: Annotated[str | None, Field(max_length=200)] = None
    priority: EventPriority = DEFAULT_PRIORITY
    error_message: Line | None = None
    metadata: JsonObject = Field(default_factory=dict)


class EventsDocument(BaseModel):
    """Events in the order of creation. Of two events with one time and priority, the first one executes first."""

    events: Annotated[list[EventDocument], Field(max_length=200_000)] = []


class ScenarioDocument(BaseModel):
    """A scenario: metadata, environment and events."""

    metadata: ScenarioMetadata
    environment: EnvironmentDocument
    events: EventsDocument = EventsDocument()


HistoricEvents = Literal["ignore", "delete", "apply"]


class ImportReport(BaseModel):
    """The result of an import: the loaded events and modalities, and the skipped modalities."""

    success: bool
    environment_loaded: bool
    events_loaded: int
    modalities_loaded: list[str]
    modalities_skipped: list[str]
    warnings: list[str]
    current_time: datetime


class ScenarioReport(ImportReport):
    """The result of importing a scenario."""

    scenario_metadata: ScenarioMetadata


class EnvironmentReport(ImportReport):
    """The result of importing an environment, and what became of the pending events before its time."""

    historic_events_count: int
    historic_events_action: HistoricEvents


class EventsReport(ImportReport):
    """The result of importing events.

    `events_merged` counts the events that joined the present ones, `previous_events` those before the import, and
    `historic_event_count` the imported pending events before the current time.
    """

    events_merged: int
    previous_events: int
    historic_events_warning: bool
    historic_event_count: int


# --- writing ---


def environment_document(simulation: Simulation[EnvironmentWorld], lifecycle: Lifecycle) -> EnvironmentDocument:
    """The clock and the state of every modality."""
    time_state = TimeStateDocument(
        current_time=simulation.now,
        time_scale=lifecycle.time_scale,
        is_paused=lifecycle.is_paused,
        auto_advance=lifecycle.auto_advance,
        last_wall_time_update=simulation.now,
    )
    states = {
        name: state_document(simulation.world, modality).model_dump(mode="json")
        for name, modality in MODALITY_BY_NAME.items()
    }
    return EnvironmentDocument(time_state=time_state, modality_states=states)


def state_document(world: EnvironmentWorld, modality: AnyModality) -> StateDocument:
    """The state of a modality as a document."""
    form, updates = modality.scenario, asdict(world.updates(modality.name))
    document: StateDocument = form.document.model_validate(
        {**updates, "modality_type": modality.name, **form.dump(world[modality.state])}
    )
    return document


def events_document(simulation: Simulation[EnvironmentWorld]) -> EventsDocument:
    """Every event, in the order of creation."""
    events = sorted(simulation.events.rows(), key=lambda event: event.sequence)
    return EventsDocument.model_construct(events=[EventDocument.model_construct(**as_record(one)) for one in events])


# --- combining ---


def with_environment(
    events: EventsDocument, environment: EnvironmentDocument, historic: HistoricEvents
) -> EventsDocument:
    """The events for another environment. `historic` decides what becomes of pending events due by its time."""
    now = environment.time_state.current_time
    kept = []
    for event in events.events:
        if not is_historic(event, now) or historic == "apply":
            kept.append(event)
        elif historic == "ignore":
            kept.append(event.model_copy(update={"status": EventStatus.SKIPPED}))
    return EventsDocument(events=kept)


def is_historic(event: EventDocument, now: datetime) -> bool:
    """Whether an event is pending though its time has come."""
    return event.status is EventStatus.PENDING and event.scheduled_time <= now


def with_events(present: EventsDocument, given: EventsDocument, *, merge: bool) -> EventsDocument:
    """The given events. With `merge`, also the present events whose ids differ from those of the given events."""
    if not merge:
        return given
    ids = {event.event_id for event in given.events}
    return EventsDocument(events=[*(event for event in present.events if event.event_id not in ids), *given.events])


# --- loading ---


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A simulation read from documents, with the names of the modalities loaded and skipped."""

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
) -> LoadedScenario:
    """The simulation that a scenario describes. Raises Invalid, in strict mode also for unknown modalities.

    The simulation's new ids differ from the ids in the documents, even if both have the same seed.
    """
    unknown = tuple(sorted(set(environment.modality_states) - set(MODALITY_BY_NAME)))
    if unknown and strict:
        raise Invalid(f"modality_states: unknown modalities: {', '.join(unknown)}")
    world = EnvironmentWorld()
    for modality, document in _state_documents(environment):
        world.set_updates(modality.name, Updates(document.last_updated, document.update_count))
        modality.scenario.load(world[modality.state], document)
    lineage = _digest(environment, events)
    space = namespace(seed, lineage)
    rows = [
        _event(document, sequence, start_at=environment, new_id=event_id(space, sequence), regenerate=regenerate_ids)
        for sequence, document in enumerate(events.events, start=1)
    ]
    if len({row.event_id for row in rows}) < len(rows):
        raise Invalid("events: two events have the same event_id")
    start = to_us(environment.time_state.current_time)
    position = Position(start, len(rows), sha256(f"{GENESIS}{lineage}".encode()).hexdigest())
    simulation = Simulation(world, apply, position, rows, Terms(seed, lineage))
    return LoadedScenario(simulation, tuple(sorted(set(environment.modality_states) - set(unknown))), unknown)


def _digest(*documents: BaseModel) -> str:
    return sha256("\n".join(document.model_dump_json() for document in documents).encode()).hexdigest()


def _state_documents(environment: EnvironmentDocument) -> Iterator[tuple[AnyModality, StateDocument]]:
    for name, modality in MODALITY_BY_NAME.items():
        if name not in environment.modality_states:
            continue
        given = {"last_updated": environment.time_state.current_time, **environment.modality_states[name]}
        try:
            document = modality.scenario.document.model_validate({"modality_type": name, **given})
        except ValidationError as error:
            raise Invalid(f"modality_states.{name}: {reasons(error)}") from error
        if document.modality_type != name:
            raise Invalid(f"modality_states.{name}: modality_type is {document.modality_type!r}, not {name!r}")
        yield modality, document


def _event(
    document: EventDocument, sequence: int, *, start_at: EnvironmentDocument, new_id: str, regenerate: bool
) -> Event:
    record = {
        **dict(document),
        "event_id": new_id if regenerate or document.event_id is None else document.event_id,
        "created_at": document.created_at or start_at.time_state.current_time,
    }
    try:
        action = parse(document.modality, document.data)
    except Fault as fault:
        raise Invalid(f"events: {record['event_id']}: {fault}") from fault
    return from_record(record, sequence, action)
