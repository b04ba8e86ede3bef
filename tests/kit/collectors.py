"""A collector in the test's own event loop, and the steps, batches and tokens to send to it."""

import ssl
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
from pydantic import SecretStr

from concord.storage.connection import Storage
from concord.trace.decoding import reports_of
from concord.trace.report import Report
from concord.trust.tokens import Claims, TokenIssuer, parse_secrets
from concord_collector.app import create_app
from concord_collector.settings import CollectorSettings
from tests.kit.serving import served

NO_TLS = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""No test speaks TLS, and loading the certificate authorities anew for each client would take most of a test's time."""

JSON = {"content-type": "application/json"}
SECRET = "a secret of the tests that is as long as one must be"


@asynccontextmanager
async def collector(redis_url: str, **settings: Any) -> AsyncIterator[httpx.AsyncClient]:  # noqa: ANN401 - any setting
    """A client of a collector in this process. The collector accepts requests without a token unless `settings` forbid
    it."""
    app = create_app(CollectorSettings(redis_url=redis_url, **{"open": True} | settings))
    async with served(app) as url, httpx.AsyncClient(base_url=url, timeout=60, verify=NO_TLS) as client:
        yield client


def bearer(agent_id: str, trace_id: str = "t1", assessment_id: str = "a1", ttl_s: float = 60) -> dict[str, str]:
    """The authorization header with a token signed by `SECRET`."""
    claims = Claims(assessment_id, trace_id, agent_id, time.time() + ttl_s)
    return bearer_of(TokenIssuer(parse_secrets(SECRET)).issue(claims))


def bearer_of(token: SecretStr) -> dict[str, str]:
    """The authorization header with this token."""
    return {"authorization": f"Bearer {token.get_secret_value()}"}


def step(step_id: str = "s1", **changes: object) -> dict[str, Any]:
    """A step as JSON."""
    return {"step_id": step_id, "trace_id": "t1", "call_type": "AGENT"} | changes


def batch(*steps: object, **changes: object) -> dict[str, Any]:
    """A batch as JSON."""
    return {"batch_id": "b1", "trace_id": "t1", "reporter": "writer", "steps": list(steps)} | changes


async def reports(storage: Storage, trace_id: str = "t1") -> list[Report]:
    """All reports in a trace."""
    return [report async for each in storage.traces.batches(trace_id) for report in reports_of(each)]
