"""Messages to agents that do not exist."""

import json
from typing import Final

from concord.a2a import IncomingMessage, TaskHandle
from lab.attacks.attack import expect
from lab.attacks.client import client_of
from lab.attacks.target import Target
from tests.kit.assessing import PATTERN
from tests.kit.serving import served_agent

ADDRESSEES: Final = [f"colleague number {number} of the team" for number in range(5000)]
TEXT: Final = "Colleague, what is the value of your reading? " * 700
MOST: Final = 12
"""Steps of a trial of two seats: the gateway's own, and a message of each seat to two invented names and to all others.
"""
MESSAGES: Final = 500
"""Of each of a hundred seats in each round to each other: together 4,950,000."""
WITHIN_S: Final = 90


async def invented(target: Target) -> str:
    """Sends, in one reply of 250 kB, a message to five thousand agents that it invented."""
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
    steps = int(ended.trial["trace_integrity"]["steps"])
    expect(steps <= MOST, f"the inventor's trial has {steps} steps")
    return f"both assessments are completed; the inventor's trial has {steps} steps"


async def to_everybody(target: Target) -> str:
    """Has each of a hundred seats send five hundred messages to all others in every round."""
    reply = json.dumps({"messages": [{"to": "all", "text": "What do you know?"}] * MESSAGES, "answer": "1"})

    async def answer(_: IncomingMessage, task: TaskHandle) -> None:
        await task.complete(reply)

    config = {"suite": "maximum", "seats": 100, "exchange": "rounds", "num_runs": 1}
    async with served_agent(answer, host=target.host) as url, client_of(target) as client:
        hostile = await client.begin_with(json.dumps({"participants": {"agent": url}, "config": config}))
        other = await client.assess_with(json.dumps({"config": {"interaction_pattern": PATTERN}}))
        ended = await client.end_of(hostile, WITHIN_S)
    expect(other.state == "completed", f"another's assessment meanwhile: {other.state}, {other.text}")
    expect(ended.row is not None, f"the assessment of the flood: {ended.state}, {ended.text}")
    row = ended.row or {}
    reasons = [each["message"] for each in row["detail"]["infrastructure"] if each["caused_by"] == "participants"]
    expect(len(reasons) == 1 and row["score"] == 0, f"{row['score']} points; the participants lost {reasons}")
    return f"both assessments are completed, that of the flood with 0 points: {reasons[0]}"
