"""One member of a team: it answers messages, and asks the members that its team names."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from fastapi import FastAPI
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from concord.a2a import (
    AgentProfile,
    AgentUnreachableError,
    IncomingMessage,
    RemoteError,
    Skill,
    TaskHandle,
    mount_agent,
)
from concord.agent.messenger import Messenger
from concord.agent.peers import PeerDiscovery
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from examples.teams.catalogue import LEAD, PLOTS, TOTAL, Team

COUNT: Final = "How many trees stand on your plot, and of which kinds are they?"
BOUNDARY: Final = "Which trees on the boundary between us belong to your plot?"
_TREES: Final = " trees: "


def create_app(name: str, team: Team, url: str, peers: Mapping[str, str]) -> FastAPI:
    """The member as an ASGI app. `peers`: the real address of each other member."""
    discovery = PeerDiscovery(peers)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await server.aclose()
        await discovery.close()

    app = FastAPI(lifespan=lifespan)
    skill = Skill("trees", "Trees", "Knows how many trees there are.", ("count",))
    # No extensions: a card with Concord's extensions promises reports, and this agent makes none.
    profile = AgentProfile(name, "A member of a team that counts trees.", "1", url, (skill,), extensions=())
    server = mount_agent(app, profile, Member(name, team, discovery))
    if team.faults.get(name) == "break_off":
        app.add_middleware(BreakingOff)
    return app


class Member:
    """Handles messages: the lead takes every message for the task, a warden answers two questions."""

    def __init__(self, name: str, team: Team, discovery: PeerDiscovery) -> None:
        self._name = name
        self._team = team
        self._discovery = discovery

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """See `concord.a2a.Handler`."""
        if self._team.faults.get(self._name) == "crash":
            os._exit(1)
        # The assignment names the registry. Without one, members call each other at their real addresses.
        assignment = None if self._team.direct else Assignment.from_metadata(message.metadata)
        peers = {entry.id: entry.url for entry in await self._discovery.peers(assignment)}
        async with Messenger(_discard_step) as messenger:
            colleagues = _Colleagues(messenger, peers, assignment)
            await task.complete(await self._answer(message.text, colleagues))

    async def _answer(self, text: str, colleagues: "_Colleagues") -> str:
        if self._name == LEAD:
            return await self._lead(colleagues)
        if text == COUNT:
            return await self._count(colleagues)
        if text == BOUNDARY:
            return f"The {PLOTS[self._name].boundary} belong to mine."
        return "pong" if text.startswith("ping") else "Hello!"

    async def _lead(self, colleagues: "_Colleagues") -> str:
        for name, text in self._team.small_talk:
            await colleagues.ask(name, text)
        counts = await self._counts(colleagues)
        return self._team.answer.format(total=TOTAL if self._team.knows_total else sum(trees for trees, _ in counts))

    async def _count(self, colleagues: "_Colleagues") -> str:
        plot = PLOTS[self._name]
        counts = await self._counts(colleagues)
        boundaries = await colleagues.ask_all(self._team.compares.get(self._name, ()), BOUNDARY)
        trees = plot.trees + sum(trees for trees, _ in counts)
        return f"{trees}{_TREES}" + "; ".join([plot.kinds, *(kinds for _, kinds in counts), *boundaries])

    async def _counts(self, colleagues: "_Colleagues") -> list[tuple[int, str]]:
        """The answers of the members that this member asks: how many trees, of which kinds."""
        answers = await colleagues.ask_all(self._team.asks.get(self._name, ()), COUNT)
        counts = [answer.partition(_TREES) for answer in answers if _TREES in answer]
        return [(int(trees), kinds) for trees, _, kinds in counts]


@dataclass(frozen=True, slots=True)
class _Colleagues:
    """The other members, while one message is handled."""

    messenger: Messenger
    urls: Mapping[str, str]
    assignment: Assignment | None

    async def ask(self, name: str, text: str) -> str:
        """A colleague's answer; empty if it fails, or if nobody has that name."""
        if name not in self.urls:
            return ""
        try:
            answer = await self.messenger.send(self.urls[name], text=text, assignment=self.assignment, callee_id=name)
        except (AgentUnreachableError, RemoteError):
            return ""
        return answer.text

    async def ask_all(self, names: Sequence[str], text: str) -> list[str]:
        """The answers of several colleagues, asked concurrently."""
        return await asyncio.gather(*(self.ask(name, text) for name in names))


class BreakingOff:
    """ASGI middleware that sends the first event of a streamed answer, then breaks the connection."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See the ASGI specification."""

        async def send_first(message: Message) -> None:
            await send(message)
            if message.get("body"):
                raise ConnectionAbortedError("breaks off, as it is made to")

        await self._app(scope, receive, send_first if scope.get("method") == "POST" else send)


def _discard_step(_step: InteractionStep, _assignment: Assignment) -> None:
    """Drops the step: these teams report nothing, and only the gateway observes their calls."""
