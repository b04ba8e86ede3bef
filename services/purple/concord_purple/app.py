"""The agent's app: its card and JSON-RPC endpoint, and what it keeps open while it runs."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Final

from fastapi import FastAPI

from concord.a2a import AgentProfile, Skill, mount_agent
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.llm import LLMSettings
from concord.service import BodyLimit, probe_routes, process_metrics
from concord_purple import __version__
from concord_purple.agent import PurpleAgent
from concord_purple.registration import stay_registered
from concord_purple.settings import Mode, PurpleSettings
from concord_purple.teams import Function

MAX_BODY_BYTES: Final = 4 * 1024 * 1024

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

    app = FastAPI(title=f"Concord {settings.function}", version=__version__, lifespan=lifespan)
    app.add_middleware(BodyLimit, max_bytes=MAX_BODY_BYTES)
    app.include_router(probe_routes(_ready, process_metrics()))
    server = mount_agent(app, _profile(settings), PurpleAgent(settings, llm, discovery, reporter))
    return app


async def _ready() -> None:
    """An agent depends on nothing: peers and the collector may come and go."""


def _profile(settings: PurpleSettings) -> AgentProfile:
    """The card: its skill's id is the agent's function, by which its peers know what to ask of it."""
    echo = settings.mode is Mode.ECHO
    does = "Answers with the text that it was sent." if echo else _DOES[settings.function]
    skill = "echo" if echo else str(settings.function)
    return AgentProfile(
        name=settings.own_id,
        description=does,
        version=__version__,
        url=settings.own_url,
        skills=(Skill(id=skill, name=skill.capitalize(), description=does, tags=("review", "text")),),
    )
