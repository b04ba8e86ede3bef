"""The routes of the modalities: the state, the query, and an action for each operation.

The descriptors of the modalities define these routes, except for `GET /calendar/calendars`.
"""

from functools import cache
from inspect import getdoc
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, Query, Request, Response

from concord_environment.access.keys import Key
from concord_environment.api.access import (
    Addressed,
    Served,
    is_of_ues_0_1,
    permitted,
)
from concord_environment.api.responses import action_response, unvalidated
from concord_environment.core.actions import Action
from concord_environment.modalities.calendar.views import CalendarList, list_calendars
from concord_environment.modalities.modality import AnyImplementation, AnyModality, StatePage
from concord_environment.modalities.registry import MODALITY_BY_NAME, query_description, state_description

_EXECUTION: Final = (
    "Executes at once for a key with the permission `events:execute`. For other keys, the service checks the action at "
    "once, responds with the status `pending`, and executes it when time moves."
)

calendars_router = APIRouter(prefix="/calendar/calendars", tags=["calendar"])


@calendars_router.get("", dependencies=[Depends(permitted("calendar:calendars:list"))])
async def read_calendars(simulation: Addressed) -> CalendarList:
    """Returns all calendars, and the id of the default calendar."""
    return list_calendars(simulation.world)


@cache
def modality_routes() -> tuple[APIRouter, ...]:
    """A router for each modality."""
    return tuple(map(_router, MODALITY_BY_NAME.values()))


def _router(modality: AnyModality) -> APIRouter:
    router = APIRouter(prefix=f"/{modality.name}", tags=[modality.name])
    _add_state(router, modality)
    _add_query(router, modality)
    for implementation in modality.implementations:
        _add_action(router, implementation)
    return router


def _add_state(router: APIRouter, modality: AnyModality) -> None:
    views = modality.views

    async def state(
        call: Request, simulation: Addressed, page: Annotated[StatePage, Query()], compact: bool = False
    ) -> Response:
        if compact:
            return unvalidated(views.brief(simulation.world, simulation.now))
        if views.state_of_0_1 is not None and is_of_ues_0_1(call):
            return unvalidated(views.state_of_0_1(simulation.world, simulation.now, page))
        return unvalidated(views.state(simulation.world, simulation.now, page))

    summary = views.summary

    async def state_or_summary(
        call: Request,
        simulation: Addressed,
        page: Annotated[StatePage, Query()],
        compact: bool = False,
        summary_only: Annotated[bool, Query(alias="summary")] = False,
    ) -> Response:
        if summary_only and summary is not None:
            return unvalidated(summary(simulation.world, simulation.now))
        return await state(call, simulation, page, compact)

    shapes: Any = views.state_type | views.brief_type
    router.add_api_route(
        "/state",
        state if summary is None else state_or_summary,
        methods=["GET"],
        response_model=shapes if views.summary_type is None else shapes | views.summary_type,
        operation_id=f"{modality.name}_state",
        summary=f"State of {modality.name}",
        description=state_description(modality),
        dependencies=[Depends(permitted(modality.calls.state_permission()))],
    )


def _add_query(router: APIRouter, modality: AnyModality) -> None:
    views = modality.views
    query_type: Any = views.query_type

    async def query(simulation: Addressed, request: query_type) -> Response:
        return unvalidated(modality.answer(simulation.world, simulation.now, request))

    router.add_api_route(
        "/query",
        query,
        methods=["POST"],
        response_model=views.answer_type,
        operation_id=f"{modality.name}_query",
        summary=f"Query {modality.name}",
        description=query_description(modality),
        dependencies=[Depends(permitted(modality.calls.query_permission()))],
    )


def _add_action(router: APIRouter, implementation: AnyImplementation) -> None:
    request_type: Any = implementation.request
    operation = implementation.operation
    permission = permitted(operation.permission)

    async def act(request: request_type, environment: Served, caller: Annotated[Key, Depends(permission)]) -> Response:
        action: Action = request
        event = environment.submit(caller, action)
        return unvalidated(action_response(environment.simulation, event))

    router.add_api_route(
        f"/{operation.route}",
        act,
        methods=["POST"],
        response_model=implementation.response,
        operation_id=operation.tool_name,
        summary=f"{operation.modality}: {operation.name}",
        description=f"{getdoc(request_type)}\n\n{_EXECUTION} Requires the permission `{operation.permission}`.",
    )
