"""The kit's settings and fixtures, and a green agent for assistants."""

from collections.abc import AsyncIterator

import pytest

from concord_assistant.green_agent import GreenAgent
from tests.kit.fixtures import (
    anyio_backend,
    private_redis,
    pytest_configure,
    pytest_pyfunc_call,
    redis_server,
    redis_url,
)

__all__ = ["anyio_backend", "private_redis", "pytest_configure", "pytest_pyfunc_call", "redis_server", "redis_url"]


@pytest.fixture(scope="module")
async def green_agent() -> AsyncIterator[GreenAgent]:
    """A green agent with an environment process."""
    agent = GreenAgent()
    await agent.startup()
    yield agent
    await agent.shutdown()
