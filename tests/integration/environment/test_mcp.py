"""The environment as MCP tools: an agent gets the tools that its key grants, under the same rules as over HTTP."""

import asyncio
import json
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import httpx
import httpx2
import pytest
from fastapi import FastAPI
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.integration.environment.conftest import ADMIN_KEY
from tests.kit.serving import served


@pytest.fixture
async def url(app: FastAPI) -> AsyncIterator[str]:
    async with served(app) as url:
        yield url


@asynccontextmanager
async def connected(url: str, secret: str) -> AsyncIterator[Client]:
    async with (
        httpx2.AsyncClient(headers={"x-api-key": secret}, timeout=60) as http,
        Client(streamable_http_client(f"{url}/mcp", http_client=http)) as client,
    ):
        yield client


async def answer_of(client: Client, tool: str, **arguments: object) -> dict[str, Any]:
    result = await client.call_tool(tool, arguments)
    text = result.content[0].text  # type: ignore[union-attr]  # a text part
    assert not result.is_error, text
    answer: dict[str, Any] = json.loads(text)
    return answer


async def test_an_agent_gets_only_the_tools_that_its_key_grants(url: str, agent: httpx.AsyncClient) -> None:
    async with connected(url, agent.headers["x-api-key"]) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
    assert {"email_send", "email_state", "calendar_respond", "time_read"} <= names
    assert not {"email_receive", "sms_receive_message", "weather_update"} & names


async def test_a_tool_has_the_effect_of_its_endpoint_once_time_advances(
    url: str, agent: httpx.AsyncClient, controller: httpx.AsyncClient
) -> None:
    async with connected(url, agent.headers["x-api-key"]) as client:
        done = await answer_of(client, "email_send", to_addresses=["bob@example.com"], subject="By tool")
        assert done["status"] == "pending"
        await controller.post("/simulator/time/advance", json={"seconds": 1})
        state = await answer_of(client, "email_state")
    assert [mail["subject"] for mail in state["emails"].values()] == ["By tool"]
    event = (await controller.get(f"/events/{done['event_id']}")).json()
    assert event["agent_id"] == agent.headers["x-key-id"]


@pytest.mark.parametrize(
    ("tool", "arguments", "reason"),
    [
        ("email_receive", {"from_address": "a@b.c", "to_addresses": ["d@e.f"]}, "requires 'email:receive'"),
        ("email_send", {"to_addresses": ["d@e.f"], "from_address": "boss@b.c"}, "sends as user@example.com only"),
        ("chat_send_message", {"content": "hi", "role": "user"}, "requires 'chat:send:user'"),
        ("email_send", {"to_addresses": []}, "to_addresses"),
        ("email_fly", {}, "there is no tool email_fly"),
    ],
    ids=["tool not granted", "another sender", "another role", "invalid argument", "unknown tool"],
)
async def test_a_forbidden_or_invalid_tool_call_is_refused_with_the_reason(
    url: str, agent: httpx.AsyncClient, tool: str, arguments: dict[str, Any], reason: str
) -> None:
    async with connected(url, agent.headers["x-api-key"]) as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert reason in result.content[0].text  # type: ignore[union-attr]  # a text part


async def test_without_a_valid_key_a_request_gets_401(url: str) -> None:
    async with httpx.AsyncClient(timeout=60) as http:
        for headers in ({}, {"x-api-key": "nothing"}, {"authorization": "Bearer nothing"}):
            answer = await http.post(f"{url}/mcp", json={}, headers=headers)
            assert answer.status_code == 401


async def test_the_admin_key_gets_tools_that_agents_do_not(url: str) -> None:
    async with connected(url, ADMIN_KEY) as client:
        assert "email_receive" in {tool.name for tool in (await client.list_tools()).tools}


async def test_first_calls_at_the_same_time_are_all_served(url: str) -> None:
    async def tools() -> int:
        async with connected(url, ADMIN_KEY) as client:
            return len((await client.list_tools()).tools)

    counts = await asyncio.gather(*(tools() for _ in range(4)))
    assert set(counts) == {counts[0]}


@pytest.mark.programs
def test_an_environment_starts_without_the_mcp_sdk() -> None:
    """The SDK takes a third of an environment's start. Most environments get no MCP call."""
    program = "import sys, concord_environment.__main__; print(sorted({'mcp', 'mcp_types'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
