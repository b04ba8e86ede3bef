"""A green agent in real processes, with a Redis of its own."""

from collections.abc import Iterator

import pytest

from tests.forked_stack import forked_stack
from tests.redis_servers import PrivateServer


@pytest.fixture(scope="session")
def green_agent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a green agent that is ready."""
    folder = tmp_path_factory.mktemp("green")
    server = PrivateServer(folder / "redis")
    server.start()
    try:
        with forked_stack(server.url, folder) as url:
            yield url
    finally:
        server.stop()
