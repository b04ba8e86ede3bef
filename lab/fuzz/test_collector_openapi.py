"""The collector answers as its OpenAPI document says, whether a request fits the document or not."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import response_schema_conformance, status_code_conformance

from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from lab.fuzz.services import collector


async def document() -> dict[str, Any]:
    """The collector's OpenAPI document, which exists once the app has started. It needs no storage."""
    app = create_app(CollectorSettings(redis_url="redis://127.0.0.1:1"))
    async with app.router.lifespan_context(app):
        return app.openapi()


@pytest.fixture(scope="module")
def url(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with collector(redis_server, tmp_path_factory.mktemp("collector")) as service:
        yield service.url


schema = schemathesis.openapi.from_dict(asyncio.run(document()))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@schema.parametrize()
@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
def test_the_collector_answers_as_its_document_says(case: schemathesis.Case[Any], url: str) -> None:
    checks = [not_a_server_error, status_code_conformance, response_schema_conformance]
    case.call_and_validate(base_url=url, checks=checks)
