"""Serves a function from text to text as an A2A agent, which can take seats of tasks in rounds."""

import argparse
import asyncio
from collections.abc import Awaitable, Callable

from fastapi import FastAPI

from concord.a2a import AgentProfile, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve


def serve_seat(name: str, answer: Callable[[str], Awaitable[str]]) -> None:
    """Serves `answer` until stopped, at the address of the command line."""
    arguments = _arguments(name)

    async def handle(message: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(await answer(message.text))

    app = FastAPI(title=name)
    url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    skill = Skill("rounds", "Rounds", "Takes a seat of a team.", ("rounds",))
    mount_agent(app, AgentProfile(name=name, description=name, version="1", url=url, skills=(skill,)), handle)
    configure_logging(name)
    serve(app, arguments.host, arguments.port)


def _arguments(name: str) -> argparse.Namespace:
    parser = address_parser(name, f"{name}, as an A2A agent.")
    parser.add_argument("--card-url", help="URL in the agent's card: where others reach it")
    return parser.parse_args()


def in_thread(answer: Callable[[str], str]) -> Callable[[str], Awaitable[str]]:
    """A blocking function as one that can be awaited."""

    async def wait(text: str) -> str:
        return await asyncio.to_thread(answer, text)

    return wait
