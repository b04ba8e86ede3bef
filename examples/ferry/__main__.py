"""`python -m examples.ferry`: serves an agent that answers with its note, or with what those that it asks know."""

import argparse
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Final

from fastapi import FastAPI

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
from concord.service.serve import address_parser, serve
from concord.wire.assignment import Assignment

UNKNOWN: Final = "I do not know."


class Clerk:
    """Answers every message with the note, else with the first answer of the others that knows more."""

    def __init__(self, note: str, asks: Sequence[str], peers: PeerDiscovery) -> None:
        self._note = note
        self._asks = asks
        self._peers = peers

    async def __call__(self, message: IncomingMessage, task: TaskHandle, /) -> None:
        """See `concord.a2a.Handler`."""
        assignment = Assignment.from_metadata(message.metadata)
        urls = {peer.id: peer.url for peer in await self._peers.peers(assignment)}
        answers = [await _asked(urls[name], name, message.text, assignment) for name in self._asks if name in urls]
        await task.complete(self._note or next((each for each in answers if each not in ("", UNKNOWN)), UNKNOWN))


async def _asked(url: str, name: str, text: str, assignment: Assignment | None) -> str:
    """The answer of another agent; empty if it fails."""
    async with Messenger(lambda _step, _assignment: None) as messenger:
        try:
            answer = await messenger.send(url, text=text, assignment=assignment, callee_id=name)
        except (AgentUnreachableError, RemoteError):
            return ""
    return answer.text if answer.succeeded else ""


def create_app(note: str, asks: Sequence[str], url: str) -> FastAPI:
    """The agent as an ASGI app."""
    peers = PeerDiscovery({})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        await server.aclose()
        await peers.close()

    app = FastAPI(lifespan=lifespan)
    skill = Skill("ferries", "Ferries", "Answers questions about ferries.", ("ferry",))
    profile = AgentProfile("clerk", "A clerk of a ferry office.", "1", url, (skill,), extensions=())
    server = mount_agent(app, profile, Clerk(note, asks, peers))
    return app


def main() -> None:
    """Reads the arguments, and serves until stopped."""
    parser: argparse.ArgumentParser = address_parser("examples.ferry", "A clerk of a ferry office, over A2A.")
    parser.add_argument("--card-url", help="the address that its card states")
    parser.add_argument("--note", default="", help="what it answers; without a note, it answers what it is told")
    parser.add_argument("--asks", nargs="*", default=[], metavar="NAME", help="the agents that it asks first")
    given = parser.parse_args()
    url = given.card_url or f"http://{given.host}:{given.port}/"
    serve(create_app(given.note, given.asks, url), given.host, given.port)


if __name__ == "__main__":
    main()
