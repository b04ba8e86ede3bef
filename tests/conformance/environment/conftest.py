"""An environment for the conformance tests with UES, which call it through ASGI."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import pytest
from fastapi import FastAPI
from starlette.testclient import TestClient

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings

ADMIN_KEY: Final = "0123456789abcdef" * 4


@pytest.fixture(scope="module")
def ues() -> Iterator[TestClient]:
    """A client with the admin key of a new environment."""
    with TestClient(_app(), headers={"x-api-key": ADMIN_KEY}) as client:
        yield client


@pytest.fixture(scope="module")
def ues_0_1() -> Iterator[TestClient]:
    """A client as of UES 0.1, which has its key, and its version, in the URL only."""
    with TestClient(_app(), base_url=f"http://0.1:{ADMIN_KEY}@environment") as client:
        yield client


def _app() -> FastAPI:
    settings = EnvironmentSettings()
    environment = Environment(settings.seed)
    environment.keys.set_admin(ADMIN_KEY, datetime.now(UTC))
    return create_app(environment, settings)
