"""The gateway's and the collector's apps as one ASGI app, so that one port serves both."""

from collections.abc import AsyncIterator, Callable, Collection, Mapping
from contextlib import asynccontextmanager
from enum import StrEnum
from typing import Annotated, Final

from prometheus_client import CollectorRegistry
from pydantic import BeforeValidator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from starlette.responses import PlainTextResponse
from starlette.routing import Router
from starlette.types import ASGIApp, Receive, Scope, Send
from structlog.contextvars import bound_contextvars

from concord.processes import ProcessPool
from concord.service.middleware import OneLeadingSlash, TokenPathLimit
from concord_cli.program.metrics import metrics_route
from concord_collector.app import PATHS as COLLECTOR_PATHS
from concord_collector.app import create_app as create_collector
from concord_collector.settings import CollectorSettings
from concord_gateway.app import create_app as create_gateway
from concord_gateway.settings import GatewaySettings


class Operators(StrEnum):
    """What the port serves for its operators, if they ask for it. On a platform, everybody can reach the port."""

    DOCS = "docs"
    METRICS = "metrics"


def _names(value: object) -> object:
    return [name.strip() for name in value.split(",") if name.strip()] if isinstance(value, str) else value


class PortSettings(BaseSettings):
    """`CONCORD_` variables of the one port."""

    model_config = SettingsConfigDict(env_prefix="CONCORD_")

    expose: Annotated[frozenset[Operators], NoDecode, BeforeValidator(_names)] = frozenset()
    """Comma-separated."""


_PATHS: Final = {
    "/docs": Operators.DOCS,
    "/docs/oauth2-redirect": Operators.DOCS,
    "/redoc": Operators.DOCS,
    "/openapi.json": Operators.DOCS,
    "/metrics": Operators.METRICS,
}


def create_app(
    gateway_settings: GatewaySettings,
    collector_settings: CollectorSettings,
    card_url: str | None,
    bound_to: str,
    pool: ProcessPool,
    workers: CollectorRegistry,
    up: Callable[[], Mapping[str, bool]],
    exposed: Collection[Operators] = (),
) -> ASGIApp:
    """Serves the collector's paths by the collector's app, with its own limits, and all others by the gateway's.

    `card_url` is the URL that clients and participants use for both services; None if it is not known. `bound_to` is
    the address that the server listens on, and `pool` the program's. `/metrics` serves the metrics of both and those of
    the `workers`, and which parts of the program are `up`. Paths for operators that are not `exposed` do not exist.
    """
    if "collector_url" not in gateway_settings.model_fields_set:
        gateway_settings = gateway_settings.model_copy(update={"collector_url": card_url})
    gateway = create_gateway(gateway_settings, card_url, bound_to, pool)
    collector = create_collector(collector_settings)
    registries = {"gateway": gateway.state.metrics, "collector": collector.state.metrics, "evaluator": workers}
    metrics = TokenPathLimit(Router([metrics_route(registries, up)]), accepts=lambda _: False)
    closed = PlainTextResponse("Not Found", 404)

    async def by_path(scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        if path in _PATHS and _PATHS[path] not in exposed:
            await closed(scope, receive, send)
        elif path in COLLECTOR_PATHS:
            with bound_contextvars(service="collector"):
                await collector(scope, receive, send)
        else:
            await (metrics if path == "/metrics" else gateway)(scope, receive, send)

    @asynccontextmanager
    async def lifespan(_: object) -> AsyncIterator[None]:
        async with collector.router.lifespan_context(collector), gateway.router.lifespan_context(gateway):
            yield

    return Router(default=OneLeadingSlash(by_path), lifespan=lifespan)
