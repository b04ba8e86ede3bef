"""Probes: every service has those that `docs/running.md` names, and no others."""

import asyncio
import re
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path

import httpx
import pytest
import redis
from fastapi import FastAPI

from concord.assessment.jobs import Queue
from concord.llm import LLMSettings
from concord.storage.redis.keys import health
from concord_collector.app import create_app as collector
from concord_collector.settings import CollectorSettings
from concord_environment.app import create_app as environment
from concord_environment.environment import Environment
from concord_environment.settings import EnvironmentSettings
from concord_gateway.app import create_app as gateway
from concord_gateway.settings import GatewaySettings
from concord_purple.agent import create_app as purple
from concord_purple.settings import PurpleSettings
from tests.kit.collectors import NO_TLS
from tests.kit.serving import served
from tests.kit.stack import workers

SECTION = (
    Path("docs/running.md").read_text(encoding="utf-8").partition("## Monitor the services")[2].partition("\n## ")[0]
)
DOCUMENTED = {
    service: set(re.findall(r"`(/\w+)`", probes))
    for service, probes in re.findall(r"^\| (\w+) \| (`.*)$", SECTION, re.M)
}
PATHS = {"/health", "/healthz", "/readyz", "/metrics"}

SERVICES: dict[str, Callable[[str], FastAPI]] = {
    "collector": lambda redis_url: collector(CollectorSettings(redis_url=redis_url)),
    "gateway": lambda redis_url: gateway(GatewaySettings(redis_url=redis_url), "http://127.0.0.1:9009/"),
    "purple": lambda _: purple(PurpleSettings(), LLMSettings()),
    "environment": lambda _: environment(Environment(0), EnvironmentSettings()),
}


def test_the_probes_of_every_service_are_documented() -> None:
    assert DOCUMENTED.keys() == SERVICES.keys()


@pytest.mark.parametrize("service", SERVICES)
async def test_a_service_has_exactly_the_documented_probes(service: str, redis_url: str) -> None:
    async with (
        workers(redis_url) if service == "gateway" else nullcontext(),
        served(SERVICES[service](redis_url)) as url,
        http_client(url) as client,
    ):
        if service == "gateway":
            await answer_of(client, 200)
        answers = {path: await client.get(path) for path in PATHS}
    assert {path for path, answer in answers.items() if answer.status_code == 200} == DOCUMENTED[service]
    if "/metrics" in DOCUMENTED[service]:
        assert answers["/healthz"].json() == {"status": "healthy"}
        assert answers["/readyz"].json() == {"status": "ready"}
        assert re.search(r"^# TYPE \w+ ", answers["/metrics"].text, re.M)


async def test_the_gateway_is_ready_only_while_every_queue_has_a_worker(redis_url: str) -> None:
    async with (
        served(SERVICES["gateway"](redis_url)) as url,
        http_client(url) as client,
        workers(redis_url, [Queue.FAST]),
    ):
        missing = await answer_of(client, 503)
        async with workers(redis_url, [Queue.LLM]):
            await answer_of(client, 200)
        with redis.Redis.from_url(redis_url) as records:
            assert 0 < records.pttl(health(Queue.LLM)) <= 6000, "it expires soon after its worker has ended"
            records.delete(health(Queue.LLM))
        await answer_of(client, 503)
    assert missing.json() == {"status": "not ready", "reason": "NoWorkerError"}


async def answer_of(client: httpx.AsyncClient, status: int) -> httpx.Response:
    """The first answer of `/readyz` with this status."""
    async with asyncio.timeout(60):
        while (answer := await client.get("/readyz")).status_code != status:
            await asyncio.sleep(0.1)
    return answer


def http_client(url: str) -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url=url, verify=NO_TLS, timeout=60)
