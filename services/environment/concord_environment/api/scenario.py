"""`/scenario`: export and import of scenarios."""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, Field

from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.core.events import EventStatus
from concord_environment.environment import Environment, EnvironmentSimulation
from concord_environment.modalities.fields import Line
from concord_environment.scenario import (
    EnvironmentDocument,
    EnvironmentReport,
    EventsDocument,
    EventsReport,
    HistoricEvents,
    LoadedScenario,
    ScenarioDocument,
    ScenarioMetadata,
    ScenarioReport,
    environment_document,
    events_document,
    is_historic,
    read_scenario,
    with_environment,
    with_events,
)


class ScenarioExport(BaseModel):
    """A scenario: metadata, environment and events."""

    scenario: ScenarioDocument


class EnvironmentExport(BaseModel):
    """The environment of a scenario: the clock and the state of all modalities, without events."""

    environment: EnvironmentDocument
    modalities_exported: list[str]


class EventsExport(BaseModel):
    """The events of a scenario, without the environment."""

    events: EventsDocument
    total_events: int
    pending_events: int
    executed_events: int


class _Import(BaseModel):
    strict_modalities: Annotated[
        bool, Field(description="Rejects unknown modalities with 422. If false, the import skips them with a warning.")
    ] = True
    regenerate_ids: Annotated[
        bool, Field(description="Gives all events new ids. By default, events keep their ids.")
    ] = False


class ScenarioImport(_Import):
    """A scenario that replaces the environment and all events."""

    scenario: ScenarioDocument


class EnvironmentImport(_Import):
    """An environment that replaces the current one. The current events stay.

    `historic_event_handling` is for pending events before the new time: `ignore` skips them, `delete` deletes them, and
    `apply` executes them.
    """

    data: EnvironmentDocument
    historic_event_handling: HistoricEvents = "ignore"


class EventsImport(_Import):
    """Events that replace the current events or, with `merge`, join them. On equal ids, the imported event stays."""

    data: EventsDocument
    merge: bool = False


router = APIRouter(prefix="/scenario", tags=["scenario"])
_exports = [Depends(permitted("scenario:export"))]
_imports = [Depends(permitted("scenario:import"))]


@router.get("/export/full", dependencies=_exports)
async def export_full(
    environment: Served,
    simulation: Addressed,
    author: Annotated[Line | None, Query()] = None,
    description: Annotated[Line | None, Query()] = None,
) -> ScenarioExport:
    """Exports the environment and all events. Importing the scenario and exporting it again gives the same bytes."""
    known = {"created_at": simulation.now, **environment.scenario_metadata}
    given = {name: text for name, text in (("author", author), ("description", description)) if text is not None}
    document = ScenarioDocument.model_construct(
        metadata=ScenarioMetadata.model_validate({**known, **given}),
        environment=environment_document(simulation, environment.lifecycle),
        events=events_document(simulation),
    )
    return ScenarioExport.model_construct(scenario=document)


@router.get("/export/environment", dependencies=_exports)
async def export_environment(environment: Served, simulation: Addressed) -> EnvironmentExport:
    """Exports the clock and the state of all modalities, without events."""
    document = environment_document(simulation, environment.lifecycle)
    return EnvironmentExport(environment=document, modalities_exported=sorted(document.modality_states))


@router.get("/export/events", dependencies=_exports)
async def export_events(simulation: Addressed) -> EventsExport:
    """Exports all events, without the environment."""
    return EventsExport.model_construct(
        events=events_document(simulation),
        total_events=len(simulation.events),
        pending_events=simulation.count(EventStatus.PENDING),
        executed_events=simulation.count(EventStatus.EXECUTED),
    )


@router.post("/import/full", dependencies=_imports)
async def import_full(request: ScenarioImport, environment: Served) -> ScenarioReport:
    """Replaces the simulation with a scenario.

    Responds with 409 if the simulation is running, and with 422 for an invalid or inconsistent scenario.
    """
    environment.lifecycle.require_stopped("stop the simulation before importing a scenario")
    scenario = request.scenario
    loaded = read_scenario(
        scenario.environment,
        scenario.events,
        seed=environment.seed,
        strict=request.strict_modalities,
        regenerate_ids=request.regenerate_ids,
    )
    environment.scenario_metadata = scenario.metadata.model_dump(mode="json")
    report = _loaded(environment, loaded, scenario.environment)
    return ScenarioReport(**report, scenario_metadata=scenario.metadata)


@router.post("/import/environment", dependencies=_imports)
async def import_environment(
    request: EnvironmentImport, environment: Served, simulation: Addressed
) -> EnvironmentReport:
    """Replaces the clock and the state of all modalities.

    Responds with 409 if the simulation is running, and with 422 for an invalid or inconsistent environment.
    """
    environment.lifecycle.require_stopped("stop the simulation before importing an environment")
    present, handling = events_document(simulation), request.historic_event_handling
    events = with_environment(present, request.data, handling)
    loaded = read_scenario(request.data, events, seed=environment.seed, strict=request.strict_modalities)
    report = _loaded(environment, loaded, request.data)
    if handling == "apply":
        _catch_up(environment.simulation)
    historic = sum(is_historic(event, request.data.time_state.current_time) for event in present.events)
    return EnvironmentReport(**report, historic_events_count=historic, historic_events_action=handling)


@router.post("/import/events", dependencies=_imports)
async def import_events(request: EventsImport, environment: Served, simulation: Addressed) -> EventsReport:
    """Replaces the events or, with `merge`, adds events.

    Responds with 409 if the simulation is running, and with 422 for an invalid event.
    """
    environment.lifecycle.require_stopped("stop the simulation before importing events")
    present, previous, now = environment_document(simulation, environment.lifecycle), simulation.count(), simulation.now
    events = with_events(events_document(simulation), request.data, merge=request.merge)
    loaded = read_scenario(
        present, events, seed=environment.seed, regenerate_ids=request.regenerate_ids, strict=request.strict_modalities
    )
    given = request.data.events
    historic = sum(is_historic(event, now) for event in given)
    report = _loaded(environment, loaded, present) | {"environment_loaded": False, "events_loaded": len(given)}
    return EventsReport(
        **report,
        events_merged=len(given) if request.merge else 0,
        previous_events=previous,
        historic_events_warning=historic > 0,
        historic_event_count=historic,
    )


def _catch_up(simulation: EnvironmentSimulation) -> None:
    while (event := simulation.next_event()) is not None and event.scheduled_time <= simulation.now:
        simulation.skip_to_next()


def _loaded(environment: Environment, loaded: LoadedScenario, document: EnvironmentDocument) -> dict[str, Any]:
    """Serves a loaded scenario. Returns the fields of an `ImportReport`."""
    environment.simulation = loaded.simulation
    environment.lifecycle.time_scale = document.time_state.time_scale
    warnings = [f"skipped the unknown modality {name}" for name in loaded.skipped]
    return {
        "success": True,
        "environment_loaded": True,
        "events_loaded": len(loaded.simulation.events),
        "modalities_loaded": list(loaded.loaded),
        "modalities_skipped": list(loaded.skipped),
        "warnings": warnings,
        "current_time": loaded.simulation.now,
    }
