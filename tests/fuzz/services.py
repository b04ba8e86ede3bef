"""The services that are fuzzed: each as a process of its own, with what goes along with every request."""

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

from concord.storage.redis import connect
from tests.integration.observed import SECRET, House
from tests.redis_servers import free_port

ADMIN_KEY: Final = "0123456789abcdef" * 4
START_S: Final = 30

schemathesis.serializer.alias(["application/mbox", "message/rfc822"], "application/octet-stream")


@schemathesis.serializer("application/x-protobuf")
def as_it_is(_: schemathesis.SerializationContext, value: Any) -> bytes:  # noqa: ANN401 - whatever was generated
    """Protobuf is bytes to the document: any bytes."""
    return value if isinstance(value, bytes) else str(value).encode()


@dataclass(frozen=True, slots=True)
class Service:
    """A service that runs: its base URL, its OpenAPI document, and the headers that every request carries."""

    url: str
    document: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)


@contextmanager
def collector(redis_url: str, logs: Path) -> Iterator[Service]:
    """One that takes reports and registrations without a token."""
    settings = {"CONCORD_OPEN": "true", "CONCORD_REGISTRATIONS_PER_MINUTE": "1000000"}
    with _running("concord_collector", "/readyz", logs, REDIS_URL=redis_url, **settings) as url:
        yield Service(url, _document(url))


@contextmanager
def environment(_: str, logs: Path) -> Iterator[Service]:
    """A simulated user environment, and its administrator's key."""
    with _running("concord_environment", "/health", logs, UES_ADMIN_KEY=ADMIN_KEY) as url:
        document = _document(url)
        # It has the service call any URL that is registered.
        document["paths"] = {path: each for path, each in document["paths"].items() if not path.endswith("/test")}
        yield Service(url, document, {"X-API-Key": ADMIN_KEY})


@contextmanager
def gateway(redis_url: str, logs: Path) -> Iterator[Service]:
    """The green agent: its card, its probes and its A2A methods."""
    with _gateway(redis_url, logs) as url:
        yield Service(url, _document(url))


@contextmanager
def proxy(redis_url: str, logs: Path) -> Iterator[Service]:
    """The door between participants, in a trial whose callee answers with what it was sent."""
    with _gateway(redis_url, logs) as url, purple(redis_url, logs) as callee:
        yield Service(url, proxied(callee.document, asyncio.run(_caller_token(redis_url, url, callee.url))))


@contextmanager
def purple(_: str, logs: Path) -> Iterator[Service]:
    """A participant that answers with what it was sent."""
    with _running("concord_purple", "/readyz", logs, PURPLE_MODE="echo") as url:
        yield Service(url, _document(url))


SERVICES: Final[Mapping[str, Callable[[str, Path], AbstractContextManager[Service]]]] = {
    "collector": collector,
    "environment": environment,
    "gateway": gateway,
    "proxy": proxy,
    "purple": purple,
}
"""Each is started with the URL of a Redis and a folder for its log."""


def proxied(document: dict[str, Any], token: str) -> dict[str, Any]:
    """An agent's OpenAPI document, with its operations where the proxy has them for the holder of a token."""
    paths = {}
    for path in ("/", "/.well-known/agent-card.json"):
        for callee in ("callee", "{callee}"):
            named = [{"in": "path", "name": "callee", "required": True, "schema": {"type": "string"}}]
            operations = dict(document["paths"][path])
            paths[f"/a2a/{token}/{callee}{path}"] = operations | ({} if callee == "callee" else {"parameters": named})
    anywhere = [
        {"in": "path", "name": name, "required": True, "schema": {"type": "string"}} for name in ("token", "callee")
    ]
    paths["/a2a/{token}/{callee}/"] = document["paths"]["/"] | {"parameters": anywhere}
    return document | {"paths": paths}


async def _caller_token(redis_url: str, gateway_url: str, callee_url: str) -> str:
    async with connect(redis_url) as storage:
        seats = await House(gateway_url, storage).trial({"caller": callee_url, "callee": callee_url}, ttl_s=86_400)
    return seats["caller"].token


@contextmanager
def _gateway(redis_url: str, logs: Path) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        settings = {"CONCORD_TOKEN_SECRET": SECRET.get_secret_value(), "CONCORD_OUTPUT_DIR": folder}
        with _running("concord_gateway", "/readyz", logs, REDIS_URL=redis_url, **settings) as url:
            yield url


def _document(url: str) -> dict[str, Any]:
    document: dict[str, Any] = httpx.get(f"{url}/openapi.json").raise_for_status().json()
    return document


@contextmanager
def _running(module: str, ready: str, logs: Path, **settings: str) -> Iterator[str]:
    """Starts a service on a free port, and ends it; yields its base URL without a trailing slash."""
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
