"""Participants whose server answers no message: their row says that it measures a server, not a team."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI, Request, Response
from starlette.middleware.base import RequestResponseEndpoint

from concord.a2a import AgentProfile, IncomingMessage, TaskHandle, mount_agent
from tests.kit.serving import reserved, served, served_agent, url_of
from tests.kit.stack import stack


async def complete(_: IncomingMessage, task: TaskHandle) -> None:
    await task.complete("nothing of the kind")


@asynccontextmanager
async def failing(status: int) -> AsyncIterator[str]:
    """An agent with a card, whose server answers each message with this status."""
    app, holder = FastAPI(), reserved()
    mount_agent(app, AgentProfile("broken", "Broken.", "1", f"{url_of(holder)}/", ()), complete)

    @app.middleware("http")
    async def fail(request: Request, call_next: RequestResponseEndpoint) -> Response:
        return Response("Internal Server Error", status) if request.method == "POST" else await call_next(request)

    async with served(app, holder) as url:
        yield f"{url}/"


TEAM_TASK = {"tasks": None, "suite": "maximum", "num_runs": 1}


def unseen(row: dict[str, Any]) -> list[str]:
    """The agents of which the verdict says that only their servers were met."""
    return [
        agent
        for each in row["detail"]["verdict"]["unknown"]
        if each["kind"] == "server_failed"
        for agent in each["agents"]
    ]


@pytest.mark.parametrize("config", [{}, TEAM_TASK], ids=["own task", "team task"])
async def test_a_server_that_fails_every_message_is_told_apart_from_an_agent_that_fails(
    redis_url: str, tmp_path: Path, config: dict[str, object]
) -> None:
    async with stack(redis_url, tmp_path) as running, failing(500) as broken, served_agent(complete) as wrong:
        row = await running.row({"a": broken, "b": wrong}, **config)
    assert unseen(row) == ["a"]


async def test_a_server_that_refuses_messages_is_the_agents_doing(redis_url: str, tmp_path: Path) -> None:
    async with stack(redis_url, tmp_path) as running, failing(422) as refusing:
        assert unseen(await running.row({"a": refusing})) == []
