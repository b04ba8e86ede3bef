"""Messages to agents that do not exist."""

import json
from typing import Final

from attacks.attack import expect
from attacks.client import client_of
from attacks.target import Target
from concord.a2a import IncomingMessage, TaskHandle
from tests.security.assessing import PATTERN
from tests.serving import served_agent

ADDRESSEES: Final = [f"colleague number {number} of the team" for number in range(1000)]
TEXT: Final = "Colleague, what is the value of your reading? " * 700
WITHIN_S: Final = 90


async def invented(target: Target) -> str:
    """Sends, in one reply of 64 kB, a message to a thousand agents that it invented."""
    reply = json.dumps({"messages": [{"to": ADDRESSEES, "text": TEXT}], "answer": "1"})

    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(reply)

    config = {"suite": "maximum", "seats": 2, "exchange": "rounds", "max_rounds": 1, "num_runs": 2}
    async with served_agent(answer, host=target.host) as url, client_of(target) as client:
        hostile = await client.begin_with(json.dumps({"participants": {"agent": url}, "config": config}))
        other = await client.assess_with(json.dumps({"config": {"interaction_pattern": PATTERN}}))
        ended = await client.end_of(hostile, WITHIN_S)
    expect(other.state == "completed", f"another's assessment meanwhile: {other.state}, {other.text}")
    expect(ended.state == "completed", f"the assessment of the inventor: {ended.state}, {ended.text}")
    calls = len(ended.trial["calls"]) + int(ended.trial["calls_omitted"])
    return f"both assessments are completed; {calls} calls of the inventor are recorded"
