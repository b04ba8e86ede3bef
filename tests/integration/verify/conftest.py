"""One run of each kind for all tests here."""

import asyncio
from collections.abc import Mapping

import pytest
import redis

from tests.integration.verify.runs import Run, every_kind


@pytest.fixture(scope="package")
def runs(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Run]:
    """Finished runs by their kind. Tests change copies."""
    with redis.Redis.from_url(redis_server) as client:
        client.flushall()
    return asyncio.run(every_kind(redis_server, tmp_path_factory.mktemp("runs")))
