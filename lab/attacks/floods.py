"""Floods of steps and calls, and claims about the duration of calls."""

import asyncio
from collections import Counter
from typing import Final

from lab.attacks.attack import expect
from lab.attacks.client import assessment_with_spy, honest_participant
from lab.attacks.target import Target
from tests.kit.hostile import fixed_answer
from tests.kit.serving import listening

BATCHES: Final = 210
STEPS: Final = 1000
"""Together more than a reporter's quota in a trace, CONCORD_MAX_STEPS; a batch has the most steps allowed."""

CALLS: Final = 300
"""More calls than a caller may have under way at once."""

REFUSED_WITHIN_S: Final = 30
"""How long the first refusal may take. A busy machine takes seconds to read so many requests."""

A_DAY_MS: Final = 86_400_000


async def tiny_steps(target: Target) -> str:
    """Reports 210,000 tiny steps, and checks that its trial stays usable."""
    accepted, statuses = 0, Counter[int]()
    async with (
        honest_participant(target) as friend,
        assessment_with_spy(target, {"honest": friend}) as spied,
    ):
        expect((await spied.call("honest")).status_code == 200, "a call before the flood failed")
        for number in range(BATCHES):
            steps = [{"step_id": f"{number}.{i}", "call_type": "TOOL"} for i in range(STEPS)]
            answer = await spied.report(*steps, batch_id=f"b{number}")
            statuses[answer.status_code] += 1
            accepted += answer.json().get("accepted", 0) if answer.status_code == 202 else 0
        trial = (await spied.end(within_s=90)).trial
    expect(set(statuses) <= {202, 429}, f"the collector answered with {dict(statuses)}")
    expect(accepted < BATCHES * STEPS, f"all {accepted} steps were taken")
    calls = [call for call in trial["calls"] if call["callee"] == "honest"]
    expect(bool(trial["usable"] and calls), "the trial is no longer usable, or lacks the observed call")
    return f"{accepted} taken, {trial['trace_integrity']['dropped']} counted as dropped; the trial is usable"


async def claimed_latency(target: Target) -> str:
    """Reports that another participant took a day for each of 200 calls."""
    async with (
        honest_participant(target) as friend,
        assessment_with_spy(target, {"honest": friend}) as spied,
    ):
        for _ in range(3):
            expect((await spied.call("honest")).status_code == 200, "a call failed")
        claims = [
            {
                "step_id": f"{number:016x}",
                "call_type": "AGENT",
                "latency": A_DAY_MS,
                "step_action": {"agent_invocation": {"agent_name": "honest", "agent_url": friend}},
            }
            for number in range(200)
        ]
        receipt = await spied.report(*claims)
        expect(receipt.status_code == 202, f"the report was answered with {receipt.status_code}: {receipt.text}")
        assessed = await spied.end()
    row = assessed.row or {"detail": {}}
    latencies = [agent["latency_avg_ms"] for agent in row["detail"]["agents"] if agent["id"] == "honest"]
    trial = assessed.trial
    expect(trial["trace_integrity"]["steps"] >= 200, "the claims are not in the trace")
    figures = [row["detail"]["latency_metrics"], latencies, trial["latency"], trial["metrics"]]
    expect(str(A_DAY_MS) not in str(figures), "a day is among the latencies")
    slow = latencies[0] if latencies else None
    expect(slow is None or slow < 60_000, f"the other's latency is {slow} ms")
    return f"the other's latency is {slow:.0f} ms" if slow is not None else "the other has no latency"


async def calls_at_once(target: Target) -> str:
    """Makes 300 concurrent calls that are never answered, while another participant makes one."""
    async with (
        listening(fixed_answer(b"", ends=False), target.host) as silent,
        honest_participant(target) as friend,
        assessment_with_spy(target, {"silent": silent}) as flooding,
        assessment_with_spy(target, {"honest": friend}) as other,
    ):
        calls = [asyncio.create_task(flooding.call("silent")) for _ in range(CALLS)]
        await asyncio.wait(calls, timeout=REFUSED_WITHIN_S, return_when=asyncio.FIRST_COMPLETED)
        answer = await other.call("honest")
        refused = Counter(call.result().status_code for call in calls if call.done())
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    expect(answer.status_code == 200, f"another's call meanwhile: {answer.status_code}")
    expect(set(refused) == {429}, f"the calls that ended, by status: {dict(refused)}")
    return f"{refused[429]} of {CALLS} refused with 429; another's call was answered"
