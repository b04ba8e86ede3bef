"""The gateway's app: the A2A agent and the probes on one connection to storage."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from concord.a2a import mount_agent
from concord.service import BodyLimit, probe_routes
from concord.storage import RETRIES_WORKER, connect
from concord_gateway import __version__
from concord_gateway.card import gateway_profile
from concord_gateway.handler import AssessmentHandler
from concord_gateway.instruments import Instruments
from concord_gateway.settings import GatewaySettings


def create_app(settings: GatewaySettings, card_url: str) -> FastAPI:
    """The gateway as an ASGI app; `card_url` is where its clients are told to post to."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with connect(settings.redis_url, retries=RETRIES_WORKER) as storage:
            instruments = Instruments()
            handler = AssessmentHandler(storage, settings, instruments)
            agent = mount_agent(app, gateway_profile(card_url), handler)
            app.include_router(probe_routes(storage.ping, instruments.registry))
            try:
                yield
            finally:
                await agent.aclose()

    app = FastAPI(title="Concord gateway", version=__version__, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=settings.max_body_bytes)
    return app
