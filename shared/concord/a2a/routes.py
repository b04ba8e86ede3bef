"""The routes of A2A's HTTP+JSON binding, and the admission of callers to routes."""

import json
import logging
import re
from collections.abc import AsyncIterator, Callable
from functools import partial
from inspect import Parameter, Signature
from typing import Any

from a2a.compat.v0_3.rest_adapter import REST03Adapter
from a2a.server.context import ServerCallContext
from a2a.server.request_handlers import RequestHandler
from a2a.server.routes.common import create_event_source_response
from a2a.server.routes.rest_routes import create_rest_routes
from a2a.types import a2a_pb2 as pb
from a2a.utils import json_utils
from a2a.utils.error_handlers import build_rest_error_payload, rest_stream_error_handler
from a2a.utils.errors import InvalidRequestError as InvalidRequest
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from concord.a2a.body_values import MAX_VALUES, values_in
from concord.a2a.callers import Callers

logger = logging.getLogger(__name__)

_WEBHOOK_PATH_0_3 = "/v1/tasks/{id}/pushNotificationConfigs/{push_id}"


KEY_NEEDED = "an API key is needed: send one of CONCORD_API_KEYS, as `Authorization: Bearer KEY` or `X-API-Key: KEY`"


def rest_routes(requests: RequestHandler, callers: Callers) -> list[Route]:
    """HTTP+JSON for both versions, without the paths of tenants, which this agent does not have."""
    routes = [route for route in create_rest_routes(requests, callers) if isinstance(route, Route)]
    of_0_3 = _Rest03(requests, callers).routes().items()
    routes += [Route(path, endpoint, methods=[method]) for (path, method), endpoint in of_0_3]
    return [admitting(_reading_json(route), callers) for route in routes]


def admitting(route: Route, callers: Callers) -> Route:
    """The same route for admitted callers, others get 401; for bodies of at most `MAX_VALUES`, others get 413; and for
    plain ones, others get 415."""

    async def handle(request: Request) -> Response:
        if not callers.admit(request):
            return JSONResponse({"detail": KEY_NEEDED}, 401, {"www-authenticate": "Bearer"})
        if (encoding := request.headers.get("content-encoding", "identity")).lower() != "identity":
            detail = f"the body is sent with Content-Encoding {encoding[:40]!r}; send it without"
            return JSONResponse({"detail": detail}, 415, {"accept-encoding": "identity"})
        if values_in(await request.body()) > MAX_VALUES:
            return JSONResponse({"detail": f"the body holds more than {MAX_VALUES} values"}, 413)
        response: Response = await route.endpoint(request)
        return response

    # FastAPI reads the operation's name and path parameters from these, for the OpenAPI document.
    handle.__name__ = re.sub(r"\W+", "_", route.path).strip("_") or "jsonrpc"
    named = [Parameter(name, Parameter.KEYWORD_ONLY, annotation=str) for name in re.findall(r"{(\w+)}", route.path)]
    request_only = Parameter("request", Parameter.POSITIONAL_OR_KEYWORD, annotation=Request)
    handle.__signature__ = Signature([request_only, *named])  # type: ignore[attr-defined]
    methods = sorted((route.methods or set()) - {"HEAD"})
    return Route(route.path, handle, methods=methods)


def _reading_json(route: Route) -> Route:
    """The same route for bodies in JSON; others get 400. The SDK answers 500 to bodies that are not UTF-8 or are nested
    deeply."""

    async def handle(request: Request) -> Response:
        try:
            json.loads(await request.body() or b"{}")
        except (ValueError, RecursionError) as error:
            refused = InvalidRequest(f"the body is not JSON: {type(error).__name__}")
            return JSONResponse(build_rest_error_payload(refused), 400)
        response: Response = await route.endpoint(request)
        return response

    return Route(route.path, handle, methods=sorted((route.methods or set()) - {"HEAD"}))


class _Rest03(REST03Adapter):
    """The SDK's adapter for 0.3, with two corrections.

    If a stream fails before its first event, the client gets an error with a status; the SDK breaks the connection. In
    addition, webhooks can be deleted.
    """

    def __init__(self, requests: RequestHandler, callers: Callers) -> None:
        super().__init__(requests, callers)
        self._requests = requests

    def routes(self) -> dict[tuple[str, str], Callable[[Request], Any]]:
        """The endpoints by path and method."""
        delete = partial(self._handle_request, self._delete_webhook)
        return super().routes() | {(_WEBHOOK_PATH_0_3, "DELETE"): delete}

    async def _delete_webhook(self, request: Request, context: ServerCallContext) -> dict[str, object]:
        named = request.path_params
        params = pb.DeleteTaskPushNotificationConfigRequest(task_id=named["id"], id=named["push_id"])
        await self._requests.on_delete_task_push_notification_config(params, context)
        return {}

    @rest_stream_error_handler
    async def _handle_streaming_request(
        self, method: Callable[[Request, ServerCallContext], AsyncIterator[Any]], request: Request
    ) -> EventSourceResponse:
        await request.body()
        events = aiter(method(request, self._context_builder.build(request)))
        first = await anext(events, None)
        return create_event_source_response(_from(first, events))


async def _from(first: Any, events: AsyncIterator[Any]) -> AsyncIterator[ServerSentEvent]:  # noqa: ANN401 - any JSON
    if first is None:
        return
    yield ServerSentEvent(json_utils.dumps(first))
    try:
        async for event in events:
            yield ServerSentEvent(json_utils.dumps(event))
    except Exception as error:
        logger.exception("a stream broke off")
        yield ServerSentEvent(json_utils.dumps(build_rest_error_payload(error)), event="error")
