"""`/email`, `/sms`, `/chat`, `/calendar` and the rest: state, query, and an action for each operation."""

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Response

from concord_environment.access.keys import Key
from concord_environment.api.access import Addressed, Served, permitted
from concord_environment.api.answers import written
from concord_environment.api.event_view import ModalityActionResponse, action_response
from concord_environment.core.actions import Action
from concord_environment.modalities.operation import AnyOperation
from concord_environment.modalities.overview import VIEWS
from concord_environment.modalities.registry import OPERATIONS
from concord_environment.modalities.views import AnyViews, StatePage


@cache
def modality_routes() -> tuple[APIRouter, ...]:
    """A router for each modality."""
    return tuple(_router(views) for views in VIEWS)


def _router(views: AnyViews) -> APIRouter:
    router = APIRouter(prefix=f"/{views.modality}", tags=[views.modality])
    _add_state(router, views)
    _add_query(router, views)
    for operation in OPERATIONS:
        if operation.modality == views.modality:
            _add_action(router, operation)
    return router


def _add_state(router: APIRouter, views: AnyViews) -> None:
    async def state(simulation: Addressed, page: Annotated[StatePage, Query()], compact: bool = False) -> Response:
        if compact:
            return written(views.brief(simulation.world, simulation.now))
        return written(views.state(simulation.world, simulation.now, page))

    router.add_api_route(
        "/state",
        state,
        methods=["GET"],
        response_model=views.state_type | views.brief_type,
        operation_id=f"{views.modality}_state",
        summary=f"State of {views.modality}",
        description="A page of the state, the latest first; with `compact` the state in short.",
        dependencies=[Depends(permitted(f"{views.modality}:state"))],
    )


def _add_query(router: APIRouter, views: AnyViews) -> None:
    query_type: Any = views.query_type

    async def query(simulation: Addressed, request: query_type) -> Response:
        return written(views.answer(simulation.world, simulation.now, request))

    router.add_api_route(
        "/query",
        query,
        methods=["POST"],
        response_model=views.answer_type,
        operation_id=f"{views.modality}_query",
        summary=f"Query {views.modality}",
        description=query_type.__doc__,
        dependencies=[Depends(permitted(f"{views.modality}:query"))],
    )


def _add_action(router: APIRouter, operation: AnyOperation) -> None:
    request_type: Any = operation.request

    async def act(
        request: request_type,
        environment: Served,
        simulation: Addressed,
        caller: Annotated[Key, Depends(permitted(operation.permission))],
    ) -> ModalityActionResponse:
        action: Action = request
        return action_response(environment.submit(simulation, caller, action))

    router.add_api_route(
        f"/{operation.route}",
        act,
        methods=["POST"],
        operation_id=f"{operation.modality}_{operation.name}",
        summary=f"{operation.modality}: {operation.name}",
        description=f"{request_type.__doc__}\n\nNeeds `{operation.permission}`.",
    )
