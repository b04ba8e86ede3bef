"""A green agent for the conformance tests."""

from collections.abc import AsyncIterator

import pytest


@pytest.fixture(scope="module")
async def green_agent(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a green agent that is ready."""
    from tests.stack import stack  # most of the services, which not every run of these tests needs

    async with stack(redis_server, tmp_path_factory.mktemp("green")) as services:
        yield f"{services.gateway}/"
