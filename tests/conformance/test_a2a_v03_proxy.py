"""Participants on A2A 0.3, as all of the platform's are: a call through the proxy works like a direct one.

The client is the last 0.3 release of the SDK, in an environment of its own.
"""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import Assignment
from tests.kit.observed import running_gateway
from tests.kit.serving import served_agent

CLIENT = Path(__file__).with_name("a2a_v03_client.py")


@pytest.fixture
def python() -> str:
    """The interpreter of the 0.3 client's environment."""
    path = os.environ.get("CONCORD_A2A_V03_PYTHON", ".venv-a2a-v03/bin/python")
    assert Path(path).exists(), "no environment with the 0.3 client: `make test` makes it"
    return path


async def ask(python: str, url: str, mode: str, text: str) -> dict[str, Any]:
    """The client's summary of the answer to a text."""
    process = await asyncio.create_subprocess_exec(python, str(CLIENT), url, mode, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    stdout, stderr = await process.communicate(text.encode())
    assert process.returncode == 0, stderr.decode()
    answer: dict[str, Any] = json.loads(stdout)
    return answer


@pytest.mark.parametrize("mode", ["send", "stream"])
async def test_a_carried_call_gets_the_same_answer_as_a_direct_one_and_is_observed(
    python: str, mode: str, redis_url: str, tmp_path: Path
) -> None:
    assigned: list[Assignment | None] = []

    async def echo(message: IncomingMessage, task: TaskHandle) -> None:
        assigned.append(Assignment.from_metadata(message.metadata))
        await task.working("thinking")
        await task.complete(f"you said {message.text}", status="done")

    async with running_gateway(redis_url, tmp_path) as gateway, served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        direct = await ask(python, url, mode, "hello")
        carried = await ask(python, participants["a"].url_of("b"), mode, "hello")
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert carried.pop("card_url") == participants["a"].url_of("b")
    assert carried == {key: value for key, value in direct.items() if key != "card_url"}
    assert carried["state"] == "completed"
    assert report.step.additional_attributes["response_text"] == "you said hello"
    assert assigned[0] is None
    assert assigned[1] is not None
    assert (assigned[1].agent_id, assigned[1].step_id) == ("b", report.step.step_id)
