"""A green agent for the conformance tests, and a client of A2A 0.3."""

import json
import os
from asyncio.subprocess import PIPE, create_subprocess_exec
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

AskByA2A03 = Callable[[str, str, str], Awaitable[dict[str, Any]]]
"""Sends a text to a URL in a mode (`send` or `stream`, optionally with a binding); returns the client's summary of the
task."""


@pytest.fixture(scope="module")
async def green_agent(redis_server: str, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[str]:
    """The URL of a green agent that is ready."""
    from tests.kit.stack import stack  # most of the services, which not every run of these tests needs

    async with stack(redis_server, tmp_path_factory.mktemp("green")) as services:
        yield f"{services.gateway}/"


@pytest.fixture(scope="session")
def a2a_v03_python() -> str:
    """The interpreter of the environment with the last 0.3 release of the SDK."""
    path = os.environ.get("CONCORD_A2A_V03_PYTHON", ".venv-a2a-v03/bin/python")
    assert Path(path).exists(), "no environment with the 0.3 SDK: `make test` makes it"
    return path


@pytest.fixture(scope="module")
async def ask_by_a2a_v03(a2a_v03_python: str) -> AsyncIterator[AskByA2A03]:
    """A client of A2A 0.3: one program, which takes a second to start, for all tests of a module."""
    program = Path(__file__).with_name("a2a_v03_client.py")
    client = await create_subprocess_exec(a2a_v03_python, str(program), stdin=PIPE, stdout=PIPE, limit=2**24)
    to, of = client.stdin, client.stdout
    assert to is not None
    assert of is not None

    async def ask(url: str, text: str, mode: str) -> dict[str, Any]:
        how, _, binding = mode.partition(" ")
        to.write(json.dumps([url, how, binding or "JSONRPC", text]).encode() + b"\n")
        summary: dict[str, Any] = json.loads(await of.readline() or "null")
        assert summary, "the client ended: its error is above"
        return summary

    yield ask
    to.close()
    await client.wait()
