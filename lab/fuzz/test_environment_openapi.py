"""The environment answers as its OpenAPI document says, whether a request fits the document or not."""

from datetime import UTC, datetime
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from concord_environment.app import create_app
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from lab.fuzz.services import ADMIN_KEY

environment = Environment(0)
environment.keys.set_admin(ADMIN_KEY, datetime(2026, 1, 1, tzinfo=UTC))
app = create_app(environment, EnvironmentSettings())
schema = schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@schema.parametrize()
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_environment_answers_as_its_document_says(case: schemathesis.Case[Any]) -> None:
    case.call_and_validate(
        headers={"X-API-Key": ADMIN_KEY},
        checks=[not_a_server_error, status_code_conformance, response_schema_conformance],
    )
