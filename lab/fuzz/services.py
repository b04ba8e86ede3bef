"""The services that are fuzzed, each in a process of its own, and the headers that their requests need."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import schemathesis

from concord.storage.connection import connect
from tests.kit.observed import SECRET, RunningGateway
from tests.kit.ports import free_port
from tests.kit.workers import workers

ADMIN_KEY: Final = "0123456789abcdef" * 4
START_S: Final = 30

schemathesis.serializer.alias(["application/mbox", "message/rfc822"], "application/octet-stream")


@schemathesis.serializer("application/x-protobuf")
def protobuf_bytes(_: schemathesis.SerializationContext, value: Any) -> bytes:
    """Encodes Protobuf, which the OpenAPI document declares as arbitrary bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass(frozen=True, slots=True)
class Service:
    """A running service: its base URL, its OpenAPI document, and the headers for every request."""

    url: str
    document: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def collector(redis_url: str, logs: Path) -> Iterator[Service]:
    """A collector that accepts reports and registrations without a token."""
    settings = {"CONCORD_OPEN": "true", "CONCORD_REGISTRATIONS_PER_MINUTE": "1000000"}
    with _running("concord_collector", "/readyz", logs, REDIS_URL=redis_url, **settings) as url:
        yield Service(url, _document(url))


@contextmanager
def environment(_: str, logs: Path) -> Iterator[Service]:
    """A simulated user environment, with its admin key."""
    with _running("concord_environment", "/health", logs, UES_ADMIN_KEY=ADMIN_KEY) as url:
        document = _document(url)
        # This operation would make the service call any registered URL.
        document["paths"] = {path: each for path, each in document["paths"].items() if not path.endswith("/test")}
        yield Service(url, document, {"X-API-Key": ADMIN_KEY})


@contextmanager
def gateway(redis_url: str, logs: Path) -> Iterator[Service]:
    """A gateway with workers, without which it is not ready: its card, its probes and its A2A methods."""
    with workers(redis_url, logs), _gateway(redis_url, logs, "/readyz") as url:
        yield Service(url, _document(url))


@contextmanager
def proxy(redis_url: str, logs: Path) -> Iterator[Service]:
    """The gateway's proxy, in a trial whose callee echoes its messages."""
    with _gateway(redis_url, logs) as url, purple(redis_url, logs) as callee:
        yield Service(url, proxied(callee.document, asyncio.run(_caller_token(redis_url, url, callee.url))))


@contextmanager
def purple(_: str, logs: Path) -> Iterator[Service]:
    """A participant that echoes its messages."""
    with _running("concord_purple", "/readyz", logs, PURPLE_MODE="echo") as url:
        yield Service(url, _document(url))


SERVICES: Final[Mapping[str, Callable[[str, Path], AbstractContextManager[Service]]]] = {
    "collector": collector,
    "environment": environment,
    "gateway": gateway,
    "proxy": proxy,
    "purple": purple,
}
"""Context managers by service name, each of the URL of a Redis and a folder for the log."""


def proxied(document: dict[str, Any], token: str) -> dict[str, Any]:
    """An agent's OpenAPI document with its operations at the proxy's paths for the holder of a token."""
    paths = {}
    for path in ("/", "/.well-known/agent-card.json"):
        for callee in ("callee", "{callee}"):
            named = [{"in": "path", "name": "callee", "required": True, "schema": {"type": "string"}}]
            operations = dict(document["paths"][path])
            paths[f"/a2a/{token}/{callee}{path}"] = operations | ({} if callee == "callee" else {"parameters": named})
    any_token_and_callee = [
        {"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in ("token", "callee")
    ]
    paths["/a2a/{token}/{callee}/"] = document["paths"]["/"] | {"parameters": any_token_and_callee}
    return document | {"paths": paths}


async def _caller_token(redis_url: str, gateway_url: str, callee_url: str) -> str:
    async with connect(redis_url) as storage:
        participants = await RunningGateway(gateway_url, storage).trial(
            {"caller": callee_url, "callee": callee_url}, ttl_s=86_400
        )
    return participants["caller"].token


@contextmanager
def _gateway(redis_url: str, logs: Path, ready: str = "/healthz") -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"CONCORD_TOKEN_SECRET": SECRET.get_secret_value(), "CONCORD_OUTPUT_DIR": folder}
        with _running("concord_gateway", ready, logs, REDIS_URL=redis_url, **settings) as url:
            yield url


def _document(url: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{url}/openapi.json", timeout=60).raise_for_status().json()
    return document


@contextmanager
def _running(module: str, ready: str, logs: Path, **settings: str) -> Iterator[str]:
    """Starts a service on a free port; yields its base URL, without a trailing slash, and ends it."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    with (logs / f"{module}.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, "--port", str(port)],
            env=os.environ | {"CONCORD_LOG_LEVEL": "ERROR"} | settings,
            stdout=log,
            stderr=log,
        )
    try:
        _await_ready(url + ready, process)
        yield url
    finally:
        process.terminate()
        process.wait()


def _await_ready(url: str, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + START_S
    while process.poll() is None and time.monotonic() < deadline:
        try:
            if httpx.get(url).is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.05)
    raise RuntimeError(f"nothing answers at {url}")
