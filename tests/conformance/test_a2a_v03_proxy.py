"""Participants on A2A 0.3, as all of the platform's are: a call through the proxy works like a direct one.

The client is the last 0.3 release of the SDK, in an environment of its own.
"""

from pathlib import Path

import pytest

from concord.a2a import IncomingMessage, TaskHandle
from concord.wire.assignment import Assignment
from tests.conformance.conftest import AskByA2A03
from tests.kit.observed import running_gateway
from tests.kit.serving import served_agent


@pytest.mark.parametrize("mode", ["send", "stream"])
async def test_a_carried_call_gets_the_same_answer_as_a_direct_one_and_is_observed(
    ask_by_a2a_v03: AskByA2A03, mode: str, redis_url: str, tmp_path: Path
) -> None:
    assigned: list[Assignment | None] = []

    async def echo(message: IncomingMessage, task: TaskHandle) -> None:
        assigned.append(Assignment.from_metadata(message.metadata))
        await task.working("thinking")
        await task.complete(f"you said {message.text}", status="done")

    async with running_gateway(redis_url, tmp_path) as gateway, served_agent(echo) as url:
        participants = await gateway.trial({"a": url, "b": url})
        direct = await ask_by_a2a_v03(url, "hello", mode)
        carried = await ask_by_a2a_v03(participants["a"].url_of("b"), "hello", mode)
        (report,) = await gateway.reports(participants["a"].claims.trace_id, 1)
    assert carried.pop("card_url") == participants["a"].url_of("b")
    assert carried == {key: value for key, value in direct.items() if key != "card_url"}
    assert carried["state"] == "completed"
    assert report.step.additional_attributes["response_text"] == "you said hello"
    assert assigned[0] is None
    assert assigned[1] is not None
    assert (assigned[1].agent_id, assigned[1].step_id) == ("b", report.step.step_id)
