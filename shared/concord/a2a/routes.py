"""The routes of A2A's HTTP+JSON binding, and the admission of callers to routes."""

import re
from inspect import Parameter, Signature

from a2a.server.request_handlers import RequestHandler
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types import a2a_pb2 as pb
from a2a.utils.error_handlers import rest_error_handler
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.a2a.callers import Callers


def rest_routes(requests: RequestHandler, callers: Callers) -> list[Route]:
    """HTTP+JSON for both versions, without the paths of tenants, which this agent does not have."""
    routes = create_rest_routes(requests, callers, enable_v0_3_compat=True)
    routes.append(_delete_webhook_0_3(requests, callers))
    return [admitting(route, callers) for route in routes if isinstance(route, Route)]


def _delete_webhook_0_3(requests: RequestHandler, callers: Callers) -> Route:
    """The one path of 0.3 that the SDK does not have, although it has the methods to set, get and list."""

    @rest_error_handler
    async def delete(request: Request) -> Response:
        named = request.path_params
        params = pb.DeleteTaskPushNotificationConfigRequest(task_id=named["id"], id=named["push_id"])
        await requests.on_delete_task_push_notification_config(params, callers.build(request))
        return JSONResponse({})

    return Route("/v1/tasks/{id}/pushNotificationConfigs/{push_id}", delete, methods=["DELETE"])


def admitting(route: Route, callers: Callers) -> Route:
    """The same route for admitted callers only; others get 401."""

    async def handle(request: Request) -> Response:
        if not callers.admit(request):
            return JSONResponse({"detail": "an API key is needed"}, 401, {"www-authenticate": "Bearer"})
        response: Response = await route.endpoint(request)
        return response

    # FastAPI reads the operation's name and path parameters from these, for the OpenAPI document.
    handle.__name__ = re.sub(r"\W+", "_", route.path).strip("_") or "jsonrpc"
    named = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=str) for name in re.findall(r"{(\w+)}", route.path)]
    request_only = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    handle.__signature__ = Signature([request_only, *named])  # type: ignore[attr-defined]
    methods = sorted((route.methods or set()) - {"HEAD"})
    return Route(route.path, handle, methods=methods)
