"""An environment in a process of its own, for the conformance tests with UES."""

import os
import time
from collections.abc import Iterator
from typing import Final

import httpx
import pytest

from tests.forked import ForkedProcess
from tests.ports import free_port

ADMIN_KEY: Final = "0123456789abcdef" * 4


@pytest.fixture(scope="module")
def ues() -> Iterator[httpx.Client]:
    """A client with the admin key of a new process."""
    port = free_port()
    settings = {
        "UES_ADMIN_KEY": ADMIN_KEY,
        "CONCORD_LOG_LEVEL": "WARNING",
        "ALLOWED_PEER_NETWORKS": "127.0.0.0/8",
    }
    process = ForkedProcess("concord_environment", "--port", str(port), env={**os.environ, **settings})
    headers = {"x-api-key": ADMIN_KEY}
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=60) as client:
            _await_health(process, client)
            yield client
    finally:
        process.kill()
        process.wait()


def _await_health(process: ForkedProcess, client: httpx.Client, limit_s: float = 60) -> None:
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        assert process.poll() is None
        try:
            if client.get("/health").is_success:
                return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("it does not serve")
