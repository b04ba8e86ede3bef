"""An environment's app in this process, and clients with a controller's and an agent's key."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from datetime import UTC, datetime
from functools import cache

import httpx
import pytest
from fastapi import FastAPI

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from concord_environment_client import AsyncUESClient
from tests.kit.serving import served

ADMIN_KEY = "0123456789abcdef" * 4
AGENT_PERMISSIONS = [
    *(f"{modality}:{call}" for modality in ("email", "sms", "calendar", "chat") for call in ("state", "query")),
    "time:read",
    *(
        f"email:{call}"
        for call in ("send", "read", "unread", "star", "unstar", "archive", "delete", "label", "unlabel", "move")
    ),
    *(f"sms:{call}" for call in ("send", "read", "unread", "delete", "react")),
    *(f"calendar:{call}" for call in ("create", "update", "delete", "respond")),
    "chat:send",
]

Callers = Callable[[str], AbstractAsyncContextManager[httpx.AsyncClient]]


def new_environment(seed: int = 0) -> Environment:
    """An environment with an admin key."""
    environment = Environment(seed)
    environment.keys.set_admin(ADMIN_KEY, datetime(2026, 1, 1, tzinfo=UTC))
    return environment


def new_app(environment: Environment) -> FastAPI:
    """The app that serves the environment."""
    return create_app(environment, EnvironmentSettings())


@cache
def operations() -> list[tuple[str, str]]:
    """The method and the path of each documented operation. FastAPI takes two seconds to write the document."""
    paths = new_app(new_environment()).openapi()["paths"]
    return [(method, path) for path, methods in paths.items() for method in methods]


@asynccontextmanager
async def calling(app: FastAPI, secret: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client of the app with this key."""
    transport = httpx.ASGITransport(app=app)
    headers = {"x-api-key": secret}
    async with httpx.AsyncClient(transport=transport, base_url="http://environment", headers=headers) as client:
        yield client


@pytest.fixture
def environment() -> Environment:
    return new_environment()


@pytest.fixture
async def url(environment: Environment) -> AsyncIterator[str]:
    """The URL of the environment, over real HTTP."""
    async with served(new_app(environment)) as url:
        yield url


@pytest.fixture
async def ues(url: str) -> AsyncIterator[AsyncUESClient]:
    """A client with the admin key, over real HTTP; the simulation runs."""
    async with AsyncUESClient(url, ADMIN_KEY) as client:
        await client.simulation.start()
        yield client


@pytest.fixture
async def app(environment: Environment) -> AsyncIterator[FastAPI]:
    app = new_app(environment)
    async with app.router.lifespan_context(app):
        yield app


@pytest.fixture
async def controller(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the admin key; the simulation runs."""
    async with calling(app, ADMIN_KEY) as client:
        await client.post("/simulation/start", json={"auto_advance": False})
        yield client


@pytest.fixture
async def agent(app: FastAPI, controller: httpx.AsyncClient) -> AsyncIterator[httpx.AsyncClient]:
    """A client with an agent's key; its `x-key-id` header is the key's id."""
    answer = await controller.post("/keys", json={"name": "agent", "permissions": AGENT_PERMISSIONS})
    async with calling(app, answer.json()["secret"]) as client:
        client.headers["x-key-id"] = answer.json()["key_id"]
        yield client
