"""A green agent for the conformance tests."""

from collections.abc import AsyncIterator

import pytest

from tests.kit.stack import stack


@pytest.fixture(scope="module")
async def green_agent(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a green agent that is ready."""
    async with stack(redis_server, tmp_path_factory.mktemp("green")) as services:
        yield f"{services.gateway}/"
