"""`python -m concord_suites.agent`: a sample agent over A2A, which takes any seats of tasks in rounds by rules."""

import argparse
from collections.abc import Mapping

from fastapi import FastAPI

from concord.a2a import AgentProfile, Handler, IncomingMessage, Skill, TaskHandle, mount_agent
from concord.service import address_parser, configure_logging, serve
from concord_suites import FAMILIES
from concord_suites.habits import Habit
from concord_suites.player import reply
from concord_suites.view import NotATurnError


def handler(habits: Mapping[str, Habit]) -> Handler:
    """Replies to turns; `habits` are by seat."""

    async def answer(message: IncomingMessage, task: TaskHandle) -> None:
        try:
            await task.complete(reply(message.text, FAMILIES, habits))
        except NotATurnError as error:
            await task.fail(f"This agent plays tasks in rounds only: {error}.")

    return answer


def create_app(url: str, habits: Mapping[str, Habit]) -> FastAPI:
    """The agent as an ASGI app; `url` stands in its card."""
    app = FastAPI(title="Concord sample agent")
    skill = Skill("rounds", "Rounds", "Takes a seat of a team in tasks that Concord's suites generate.", ("sample",))
    profile = AgentProfile(
        name="sample", description="Plays tasks in rounds by rules.", version="1", url=url, skills=(skill,)
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
    parser = address_parser("concord_suites.agent", "An agent that takes seats of tasks in rounds by rules.")
    parser.add_argument("--card-url", help="URL in the agent's card: where others reach it")
    parser.add_argument(
        "--habit",
        type=_habit,
        action="append",
        default=[],
        metavar="HABIT@SEAT",
        help="what one of its seats does wrong: withholding, distorting, forgetful or chattering",
    )
    arguments = parser.parse_args()
    configure_logging("sample agent")
    url = arguments.card_url or f"http://{arguments.host}:{arguments.port}/"
    serve(create_app(url, dict(arguments.habit)), arguments.host, arguments.port)


if __name__ == "__main__":
    main()
