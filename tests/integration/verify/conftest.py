"""Finished runs for all tests of a module."""

import asyncio
from collections.abc import Mapping
from typing import TYPE_CHECKING

import pytest
import redis

if TYPE_CHECKING:
    from tests.integration.verify.runs import Run


def _emptied(redis_url: str) -> str:
    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url


@pytest.fixture(scope="module")
def runs(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> "Mapping[str, Run]":
    """Finished runs by their kind. Tests change copies."""
    from tests.integration.verify.runs import (
        every_kind,
    )  # nearly all modules, which no other tests of a process may need

    return asyncio.run(every_kind(_emptied(redis_server), tmp_path_factory.mktemp("runs")))


@pytest.fixture(scope="module")
def pattern_runs(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> "Mapping[str, Run]":
    """Finished runs of a pattern, which take a fraction of the time."""
    from tests.integration.verify.runs import patterns

    return asyncio.run(patterns(_emptied(redis_server), tmp_path_factory.mktemp("runs")))
