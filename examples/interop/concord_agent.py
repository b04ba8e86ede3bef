"""An agent on Concord's library, which asks its peers: `concord_agent.py --host H --port P --card-url URL`."""

import asyncio

import uvicorn
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
from concord.wire.assignment import Assignment
from words import answer_of, arguments


async def handle(message: IncomingMessage, task: TaskHandle) -> None:
    """Asks all peers, and reports their answers."""
    assignment = Assignment.from_metadata(message.metadata)
    async with PeerDiscovery() as discovery, Messenger(lambda _step, _assignment: None) as messenger:
        peers = await discovery.peers(assignment)

        async def ask(url: str, peer: str) -> str:
            try:
                return (await messenger.send(url, text="What do you know?", assignment=assignment, callee_id=peer)).text
            except (AgentUnreachableError, RemoteError) as error:
                return str(error)

        heard = await asyncio.gather(*(ask(peer.url, peer.id) for peer in peers))
    await task.complete(answer_of(heard))


if __name__ == "__main__":
    given = arguments()
    app = FastAPI()
    skill = Skill("words", "Words", "Asks its peers for a word.", ("sample",))
    mount_agent(app, AgentProfile("words", "Asks its peers.", "1", given.card_url, (skill,), extensions=()), handle)
    uvicorn.run(app, host=given.host, port=given.port, log_level="warning")
