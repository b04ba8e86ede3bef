"""`python -m concord_suites.agent`: a sample agent over A2A, which takes any seats of tasks by rules."""

import argparse
import logging
import os
from collections.abc import Mapping
from functools import partial
from typing import Final

from cachetools import LRUCache
from fastapi import FastAPI

from concord.a2a import (
    AgentProfile,
    AgentUnreachableError,
    Handler,
    IncomingMessage,
    RemoteError,
    Skill,
    TaskHandle,
    mount_agent,
)
from concord.agent.messenger import Messenger
from concord.service.logs import configure_logging
from concord.service.serve import address_parser, serve
from concord.wire.assignment import CALLS_URI, SUPPORTED_URIS, Assignment
from concord_suites import FAMILIES
from concord_suites.player import CallingPlayer, Habit, NotATurnError, caller_of, is_brief, is_question, reply

logger = logging.getLogger(__name__)

MAX_SEATS: Final = 10_000
"""Seats that the agent remembers, in all trials by calls."""


def handler(habits: Mapping[str, Habit]) -> Handler:
    """Replies to turns of tasks in rounds, and to briefs, questions and calls of others; `habits` are by seat."""
    callers: LRUCache[str, CallingPlayer] = LRUCache(MAX_SEATS)

    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        text = message.text
        try:
            if (caller := callers.get(message.context_id)) is not None:
                await task.complete(await (caller.asked(text) if is_question(text) else caller.called(text)))
            elif is_brief(text):
                call = partial(_call, Assignment.from_metadata(message.metadata))
                callers[message.context_id] = caller_of(text, call, FAMILIES, habits)
                await task.complete("ready")
            else:
                await task.complete(reply(text, FAMILIES, habits))
        except NotATurnError as error:
            await task.fail(f"This agent plays tasks of Concord's suites only: {error}.")

    return answer


async def _call(assignment: Assignment | None, url: str, text: str) -> str:
    """The answer of another seat; empty if it cannot be had."""
    async with Messenger(lambda *_: None) as messenger:
        try:
            answer = await messenger.send(url, text=text, assignment=assignment)
        except (AgentUnreachableError, RemoteError) as error:
            logger.warning("a call failed: %s", error)
            return ""
    return answer.text if answer.succeeded else ""


def create_app(url: str, habits: Mapping[str, Habit]) -> FastAPI:
    """The agent as an ASGI app; `url` stands in its card."""
    app = FastAPI(title="Concord sample agent")
    skill = Skill("seats", "Seats", "Takes a seat of a team in tasks that Concord's suites generate.", ("sample",))
    profile = AgentProfile(
        name="sample",
        description="Plays tasks in rounds and by calls, by rules.",
        version="1",
        url=url,
        skills=(skill,),
        extensions=(*SUPPORTED_URIS, CALLS_URI),
    )
    mount_agent(app, profile, handler(habits))
    return app


def _habit(text: str) -> tuple[str, Habit]:
    habit, _, seat = text.partition("@")
    if habit not in set(Habit) or not seat:
        raise argparse.ArgumentTypeError(f"{text!r} is not HABIT@SEAT with one of {', '.join(Habit)}")
    return seat, Habit(habit)


def main() -> None:
    """Reads the arguments, and serves until stopped."""
    parser = address_parser("concord_suites.agent", "An agent that takes seats of tasks by rules.")
    parser.add_argument("--card-url", help="URL in the agent's card: where others reach it")
    parser.add_argument(
        "--habit",
        type=_habit,
        action="append",
        default=None,
        metavar="HABIT@SEAT",
        help="the fault of one of its seats: withholding, distorting, forgetful or chattering "
        "(default: those in SAMPLE_HABITS, separated by spaces)",
    )
    arguments = parser.parse_args()
    habits = arguments.habit
    if habits is None:
        try:
            habits = [_habit(text) for text in os.environ.get("SAMPLE_HABITS", "").split()]
        except argparse.ArgumentTypeError as error:
            parser.error(f"SAMPLE_HABITS: {error}")
    configure_logging("sample agent")
    url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    serve(create_app(url, dict(habits)), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
