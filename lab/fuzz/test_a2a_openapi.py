"""The A2A services never answer with a 5xx, whether a request fits their OpenAPI document or not."""

import asyncio
from pathlib import Path

import pytest
from fastapi import FastAPI, Response

from lab.fuzz.services import SERVICES, Service
from lab.fuzz.survival import survives
from tests.kit.serving import served

SECONDS = 5


@pytest.mark.parametrize("name", ["gateway", "proxy", "purple"])
def test_no_request_makes_an_a2a_service_fail(name: str, redis_url: str, tmp_path: Path) -> None:
    with SERVICES[name](redis_url, tmp_path) as service:
        assert survives(service, SECONDS, tmp_path)


async def test_a_service_that_fails_on_one_request_does_not_survive(tmp_path: Path) -> None:
    app = FastAPI()

    @app.get("/")
    async def root(number: int = 0) -> Response:
        return Response(status_code=500 if number else 200)

    async with served(app) as url:
        assert not await asyncio.to_thread(survives, Service(url, app.openapi()), 2 * SECONDS, tmp_path)
