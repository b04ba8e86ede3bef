"""The example of a plain chat model in a seat, against an OpenAI-compatible server that plays by rules."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI

from concord_suites import FAMILIES
from concord_suites.player import reply
from tests.conformance.test_a2a_v03_rounds import wait_for_card
from tests.kit.assessing import request, row_of, task_of
from tests.kit.ports import free_port
from tests.kit.serving import served
from tests.kit.stack import gateway, workers

CHAT_MODEL = Path("examples/rounds/chat_model.py")


@pytest.fixture(scope="module", autouse=True)
async def evaluators(redis_server: str) -> AsyncIterator[None]:
    """A worker of each queue."""
    async with workers(redis_server):
        yield


def model_server() -> FastAPI:
    """An OpenAI-compatible endpoint whose model replies by the families' grammar."""
    app = FastAPI()

    @app.post("/v1/chat/completions")
    async def complete(asked: dict[str, Any]) -> dict[str, Any]:
        message = {"role": "assistant", "content": reply(asked["messages"][-1]["content"], FAMILIES)}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"], "choices": [choice]}

    return app


async def test_a_plain_chat_model_takes_five_seats(redis_url: str, tmp_path: Path) -> None:
    port = free_port()
    async with served(model_server()) as model, gateway(redis_url, tmp_path, observe=False) as url:
        env = os.environ | {"OPENAI_API_KEY": "x" * 20, "OPENAI_BASE_URL": f"{model}/v1"}
        agent = await asyncio.create_subprocess_exec(sys.executable, str(CHAT_MODEL), "--port", str(port), env=env)
        try:
            await asyncio.to_thread(wait_for_card, f"http://127.0.0.1:{port}/.well-known/agent-card.json")
            async with httpx.AsyncClient(timeout=60) as http:
                asked = request({"suite": "quick"}, {"agent": f"http://127.0.0.1:{port}/"})
                row = row_of(await task_of(http, url, asked))
        finally:
            agent.kill()
            await agent.wait()
    assert [trial["grading"]["value"] for trial in row["detail"]["trials"]] == [1, 1, 1]
