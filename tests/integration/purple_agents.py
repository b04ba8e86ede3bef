"""The shipped participants in the test's own event loop, and a collector that records what it receives."""

import gzip
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field

from fastapi import FastAPI, Request

from concord.agent.peers import PeerList
from concord.llm import LLMSettings
from concord.trace.report import StepBatch
from concord.wire.roster import RosterEntry
from concord_purple.agent import create_app
from concord_purple.settings import PurpleSettings
from tests.kit.ports import free_port
from tests.kit.serving import eventually, reserved, served

NO_MODEL = LLMSettings(api_key=None)


def free_urls(names: Sequence[str]) -> dict[str, str]:
    """A base URL for each name, with a port on which nothing listens."""
    ports: set[int] = set()
    while len(ports) < len(names):
        ports.add(free_port())
    return {name: f"http://127.0.0.1:{port}/" for name, port in zip(names, ports, strict=True)}


@asynccontextmanager
async def running_agents(
    agents: Mapping[str, Mapping[str, object]],
    urls: Mapping[str, str],
    *,
    llm: LLMSettings = NO_MODEL,
    **settings: object,
) -> AsyncIterator[None]:
    """Serves an agent for each id with its settings; all of `urls` are peers unless `settings` say otherwise."""
    async with AsyncExitStack() as running:
        for name, own in agents.items():
            given = {"agent_id": name, "card_url": urls[name], "peers": dict(urls)} | settings | dict(own)
            app = create_app(PurpleSettings.model_validate(given), llm)
            await running.enter_async_context(served(app, reserved(port=port_of(urls[name]))))
        yield


def port_of(url: str) -> int:
    """The port in a base URL."""
    return int(url.rstrip("/").rpartition(":")[2])


@dataclass
class Collector:
    """The requests that a collector got, and the peers that it answers with."""

    url: str = ""
    batches: list[StepBatch] = field(default_factory=list)
    registered: list[RosterEntry] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    """The authorization header of each registration."""
    peers: list[RosterEntry] = field(default_factory=list)

    def steps_of(self, reporter: str) -> set[str]:
        """The ids of the steps that an agent reported."""
        return {step.step_id for batch in self.batches if batch.reporter == reporter for step in batch.steps}

    async def has_steps(self, n: int) -> None:
        """Waits until `n` steps have been reported."""
        await eventually(lambda: sum(len(batch.steps) for batch in self.batches) >= n)

    async def registration(self) -> RosterEntry:
        """Waits for a registration and returns the first."""
        await eventually(lambda: bool(self.registered))
        return self.registered[0]

    def app(self) -> FastAPI:
        """The collector's routes."""
        app = FastAPI()

        @app.post("/traces", status_code=202)
        async def traces(request: Request) -> dict[str, str]:
            self.batches.append(StepBatch.model_validate_json(await _body(request)))
            return {}

        @app.post("/register", status_code=202)
        async def register(request: Request) -> dict[str, str]:
            self.authorizations.append(request.headers.get("authorization"))
            self.registered.append(RosterEntry.model_validate_json(await _body(request)))
            return {}

        @app.get("/peers")
        async def peers() -> PeerList:
            return PeerList(peers=self.peers)

        return app


async def _body(request: Request) -> bytes:
    body = await request.body()
    return gzip.decompress(body) if request.headers.get("content-encoding") == "gzip" else body


@asynccontextmanager
async def collecting() -> AsyncIterator[Collector]:
    """A collector on a free port."""
    collector = Collector()
    async with served(collector.app()) as collector.url:
        yield collector
