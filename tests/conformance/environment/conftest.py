"""An environment for the conformance tests with UES, which call it through ASGI."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import pytest
from starlette.testclient import TestClient

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings

ADMIN_KEY: Final = "0123456789abcdef" * 4


@pytest.fixture(scope="module")
def ues() -> Iterator[TestClient]:
    """A client with the admin key of a new environment."""
    settings = EnvironmentSettings.model_validate({"allowed_peer_networks": ["127.0.0.0/8"]})
    environment = Environment(settings.seed)
    environment.keys.set_admin(ADMIN_KEY, datetime.now(UTC))
    with TestClient(create_app(environment, settings), headers={"x-api-key": ADMIN_KEY}) as client:
        yield client
