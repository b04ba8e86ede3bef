"""A participant on A2A 0.3, as all of the platform's are, calls another through the proxy and notices nothing.

The client is a real one: the last 0.3 release of the SDK, in an environment of its own.
"""

import asyncio
import json
import os
from asyncio.subprocess import PIPE
from pathlib import Path
from typing import Any

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.agent.assignment import Assignment
from tests.integration.observed import house
from tests.serving import served_agent

CLIENT = Path(__file__).with_name("a2a_v03_client.py")


@pytest.fixture
def python() -> str:
    """The Python of the 0.3 client."""
    path = os.environ.get("CONCORD_A2A_V03_PYTHON", ".venv-a2a-v03/bin/python")
    assert Path(path).exists(), "no environment with the 0.3 client: `make test` makes it"
    return path


async def ask(python: str, url: str, mode: str, text: str) -> dict[str, Any]:
    """What the client was left with."""
    process = await asyncio.create_subprocess_exec(python, str(CLIENT), url, mode, stdin=PIPE, stdout=PIPE, stderr=PIPE)
    said, complaints = await process.communicate(text.encode())
    assert process.returncode == 0, complaints.decode()
    answer: dict[str, Any] = json.loads(said)
    return answer


@pytest.mark.parametrize("mode", ["send", "stream"])
async def test_it_gets_what_it_would_have_got_and_is_observed(
    python: str, mode: str, redis_url: str, tmp_path: Path
) -> None:
    assigned: list[Assignment | None] = []

    async def echo(message: IncomingMessage, task: TaskHandle) -> None:
        assigned.append(Assignment.from_metadata(message.metadata))
        await task.working("thinking")
        await task.complete(f"you said {message.text}", status="done")

    async with house(redis_url, tmp_path) as gateway, served_agent(echo) as url:
        seats = await gateway.trial({"a": url, "b": url})
        direct = await ask(python, url, mode, "hello")
        carried = await ask(python, seats["a"].url_of("b"), mode, "hello")
        (report,) = await gateway.reports(seats["a"].claims.trace_id, 1)
    assert carried.pop("card_url") == seats["a"].url_of("b")
    assert carried == {key: value for key, value in direct.items() if key != "card_url"}
    assert carried["state"] == "completed"
    assert report.step.additional_attributes["response_text"] == "you said hello"
    assert assigned[0] is None
    assert assigned[1] is not None
    assert (assigned[1].agent_id, assigned[1].step_id) == ("b", report.step.step_id)
