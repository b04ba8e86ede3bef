"""`/environment`: the state of all modalities, in full or compact."""

from datetime import UTC, datetime
from typing import Any, Literal

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, PlainTextResponse
from pydantic import BaseModel, ValidationError

from concord_environment.api.access import Addressed, identify, permitted
from concord_environment.api.responses import unvalidated
from concord_environment.core.events import EventStatus
from concord_environment.core.faults import Invalid, NotFound
from concord_environment.environment import EnvironmentSimulation
from concord_environment.modalities.modality import AnyModality, StatePage, StateView
from concord_environment.modalities.registry import MODALITY_BY_NAME, inconsistencies
from concord_environment.scenario import state_document


class ModalitySummary(BaseModel):
    """A modality in a few words."""

    modality_type: str
    state_summary: str


class EnvironmentState(BaseModel):
    """The whole state of all modalities, with the fields of their scenario documents, and a summary of each."""

    current_time: datetime
    modalities: dict[str, dict[str, Any]]
    summary: list[ModalitySummary]
    pending_events: int
    executed_events: int


class PendingEvents(BaseModel):
    """The pending events. `next_event_time` is null if there are none."""

    pending_count: int
    next_event_time: datetime | None


class CompactSnapshot(BaseModel):
    """The compact state of all modalities."""

    snapshot_time: datetime
    format: Literal["compact"] = "compact"
    modalities: dict[str, dict[str, Any]]
    events: PendingEvents


class ModalityList(BaseModel):
    """The names of the modalities."""

    modalities: list[str]
    count: int


class Validation(BaseModel):
    """The result of a consistency check, with the first 100 errors. `checked_at` is wall-clock time."""

    valid: bool
    errors: list[str]
    checked_at: datetime


router = APIRouter(prefix="/environment", tags=["environment"])


@router.get(
    "/state",
    response_model=EnvironmentState | CompactSnapshot,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}},
    dependencies=[Depends(permitted("environment:read"))],
)
async def read_state(
    simulation: Addressed,
    compact: bool = False,
    format: Literal["json", "text"] = "json",  # noqa: A002 - the contract's
) -> CompactSnapshot | Response:
    """Returns the whole state of each modality.

    With `compact`, returns the compact state instead: counts and the latest items. With `compact` and `format=text`,
    returns the compact state as plain text for a prompt. Responds with 422 for `format=text` without `compact`.
    """
    pending = simulation.count(EventStatus.PENDING)
    if format == "text":
        if not compact:
            raise Invalid("format: text requires compact=true")
        return PlainTextResponse(_as_text(simulation, pending))
    if compact:
        return _compact(simulation, pending)
    state = EnvironmentState(
        current_time=simulation.now,
        modalities={name: _whole_state(simulation, modality) for name, modality in MODALITY_BY_NAME.items()},
        summary=[_summary(MODALITY_BY_NAME[name], brief) for name, brief in _briefs(simulation).items()],
        pending_events=pending,
        executed_events=simulation.count(EventStatus.EXECUTED),
    )
    return unvalidated(state)


def _whole_state(simulation: EnvironmentSimulation, modality: AnyModality) -> dict[str, Any]:
    """The whole state of a modality, with the fields of its scenario document that the state lacks."""
    state = modality.views.state(simulation.world, simulation.now, StatePage()).model_dump(mode="json")
    others = modality.scenario.document.model_fields.keys() - state.keys()
    if not others:
        return state
    return {**state_document(simulation.world, modality).model_dump(mode="json", include=others), **state}


def _summary(modality: AnyModality, brief: StateView) -> ModalitySummary:
    first = next(iter(modality.views.as_text(brief)), f"{modality.name.upper()}: {brief.update_count} updates")
    return ModalitySummary(modality_type=modality.name, state_summary=first.partition(": ")[2])


def _compact(simulation: EnvironmentSimulation, pending: int) -> CompactSnapshot:
    following = simulation.next_event()
    return CompactSnapshot(
        snapshot_time=simulation.now,
        modalities={name: brief.model_dump(mode="json") for name, brief in _briefs(simulation).items()},
        events=PendingEvents(pending_count=pending, next_event_time=following.scheduled_time if following else None),
    )


def _briefs(simulation: EnvironmentSimulation) -> dict[str, StateView]:
    return {name: one.views.brief(simulation.world, simulation.now) for name, one in MODALITY_BY_NAME.items()}


def _as_text(simulation: EnvironmentSimulation, pending: int) -> str:
    """The compact state as plain text for a prompt."""
    lines = ["=== Environment ===", f"Time: {simulation.now:%Y-%m-%d %H:%M} UTC"]
    for name, brief in _briefs(simulation).items():
        lines += MODALITY_BY_NAME[name].views.as_text(brief)
    return "\n".join([*lines, f"EVENTS: {pending} pending", ""])


@router.get("/modalities", dependencies=[Depends(permitted("environment:list"))])
async def list_modalities(simulation: Addressed) -> ModalityList:  # noqa: ARG001 - requires a key
    """Returns the names of all modalities."""
    return ModalityList(modalities=list(MODALITY_BY_NAME), count=len(MODALITY_BY_NAME))


@router.get("/modalities/{name}", include_in_schema=False)
async def read_modality(name: str, call: Request, simulation: Addressed) -> Response:
    """The whole state of a modality, as UES 0.1 has it. Later versions have `/{name}/state` instead."""
    modality = _modality(name)
    identify(call).require(modality.calls.state_permission())
    state = _whole_state(simulation, modality)
    return JSONResponse({"modality_type": name, "current_time": state["current_time"], "state": state})


@router.post("/modalities/{name}/query", include_in_schema=False)
async def query_modality(name: str, call: Request, simulation: Addressed) -> Response:
    """The answer to a query of a modality, as UES 0.1 has it. Later versions have `/{name}/query` instead."""
    modality = _modality(name)
    identify(call).require(modality.calls.query_permission())
    try:
        query = modality.views.query_type.model_validate_json(await call.body())
    except ValidationError as error:
        raise RequestValidationError([{**field, "loc": ("body", *field["loc"])} for field in error.errors()]) from error
    results = modality.answer(simulation.world, simulation.now, query).model_dump(mode="json")
    asked = query.model_dump(mode="json", exclude_unset=True)
    return JSONResponse({"modality_type": name, "query": asked, "results": results})


def _modality(name: str) -> AnyModality:
    if name not in MODALITY_BY_NAME:
        raise NotFound(f"there is no modality {name!r}; available are {', '.join(MODALITY_BY_NAME)}")
    return MODALITY_BY_NAME[name]


@router.post("/validate", dependencies=[Depends(permitted("environment:validate"))])
async def validate(simulation: Addressed) -> Validation:
    """Checks the state for broken references, such as a message in a conversation that does not exist."""
    errors = inconsistencies(simulation.world)
    return Validation(valid=not errors, errors=errors[:100], checked_at=datetime.now(UTC))
