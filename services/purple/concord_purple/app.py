"""One agent as an ASGI app: its card, its JSON-RPC endpoint, and its registration with the collector."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

import httpx
from fastapi import FastAPI

from concord import retention
from concord.a2a import AgentProfile, Skill, mount_agent
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.service.limits import BodyLimit
from concord.service.probes import probe_routes
from concord.version import VERSION
from concord_purple.agent import PurpleAgent
from concord_purple.settings import Mode, PurpleSettings
from concord_purple.teams import Function

logger = logging.getLogger(__name__)

MAX_BODY_BYTES: Final = 4 * 1024 * 1024

RENEW_S: Final = retention.REGISTRATION_S // 3
"""Between two registrations: an entry outlasts two that fail."""

RETRY_S: Final = 5
REFUSED_RETRY_S: Final = 300
"""After a refusal, which will not change soon."""

_REGISTRATION_TIMEOUT_S: Final = 5.0

_DOES: Final = {
    Function.COORDINATOR: "Has a text reviewed by its team and delivers the review.",
    Function.RESEARCHER: "Measures a text: sentences, support of its claims, repetition, hedging.",
    Function.SYNTHESIZER: "Drafts a review from measured facts.",
    Function.REVIEWER: "Checks every statement of a draft against the text and the facts.",
}


def create_app(settings: PurpleSettings, llm: LLMSettings) -> FastAPI:
    """One agent of a team as an ASGI app."""
    reporter = TraceReporter()
    discovery = PeerDiscovery({name: str(url) for name, url in settings.peers.items()})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        registering = asyncio.create_task(stay_registered(settings))
        try:
            yield
        finally:
            registering.cancel()
            with suppress(asyncio.CancelledError):
                await registering
            await server.aclose()
            await discovery.close()
            await asyncio.to_thread(reporter.close)

    app = FastAPI(title=f"Concord {settings.function}", version=VERSION, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.include_router(probe_routes(_ready))
    server = mount_agent(app, _profile(settings), PurpleAgent(settings, llm, discovery, reporter))
    return app


async def _ready() -> None:
    """An agent is always ready: it needs neither its peers nor the collector to start."""


def _profile(settings: PurpleSettings) -> AgentProfile:
    """The agent's card. The skill's id is the agent's function, by which peers know what to ask of it."""
    echo = settings.mode is Mode.ECHO
    does = "Answers with the text that it was sent." if echo else _DOES[settings.function]
    skill = "echo" if echo else str(settings.function)
    return AgentProfile(
        name=settings.own_id,
        description=does,
        version=VERSION,
        url=settings.own_url,
        skills=(Skill(id=skill, name=skill.capitalize(), description=does, tags=("review", "text")),),
    )


async def stay_registered(settings: PurpleSettings) -> None:
    """Registers the agent with the collector and renews the entry until cancelled. Without a collector, does nothing.

    The open registry serves clients outside of any assessment; in an assessment, the client declares the agents.
    """
    if settings.collector_url is None:
        return
    url = f"{str(settings.collector_url).rstrip('/')}/register"
    entry: dict[str, object] = {"id": settings.own_id, "url": settings.own_url, "functions": [settings.function]}
    token = settings.collector_token
    headers = {} if token is None else {"authorization": f"Bearer {token.get_secret_value()}"}
    async with httpx.AsyncClient(timeout=_REGISTRATION_TIMEOUT_S, headers=headers) as http:
        while True:
            pause_s = await _register(http, url, entry)
            await asyncio.sleep(pause_s)


async def _register(http: httpx.AsyncClient, url: str, entry: dict[str, object]) -> float:
    """Registers once; returns after how many seconds to register again."""
    try:
        response = await http.post(url, json=entry)
        if response.status_code in {401, 403}:
            logger.error(
                "the collector refuses the registration, check PURPLE_COLLECTOR_TOKEN: %s", response.text[:200]
            )
            return REFUSED_RETRY_S
        response.raise_for_status()
    except httpx.HTTPError as error:
        logger.warning("cannot register with the collector: %s: %s", type(error).__name__, error)
        return RETRY_S
    return RENEW_S
