"""Floods of steps: a trial stays usable however many steps a participant reports, and dropped steps are counted."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from fastapi.responses import JSONResponse

from concord import Assignment, CallType, InteractionStep, TraceReporter
from concord.assessment.jobs import EvaluateTrial, TrialVerdict
from concord.storage.connection import Storage, connect
from concord.storage.trial_documents import TrialDocuments
from concord.trace.report import BatchReceipt, Channel
from concord.trace.step import ResponseTrace
from concord.wire.assignment import TRACEABILITY_KEY
from concord_evaluator.settings import EvaluatorSettings
from tests.kit.collectors import SECRET, batch, bearer, collector, reports, step
from tests.kit.observed import agent_answering, running_gateway, send
from tests.kit.stack import workers
from tests.kit.traces import TRACE_ID, call, reported_by, url_of
from tests.kit.trials import answered_by_all, carried, outcome, plan
from tests.kit.trials import batch as stored

TEAM = plan("ABC")
EVALUATE = EvaluateTrial(assessment_id=TEAM.assessment_id, trial_id="trial-1")


@pytest.fixture
async def storage(redis_url: str) -> AsyncIterator[Storage]:
    async with connect(redis_url) as opened:
        yield opened


def batch_of(number: int, count: int) -> dict[str, object]:
    return batch(*[step(f"{number}.{i}") for i in range(count)], batch_id=f"b{number}")


async def test_steps_beyond_a_reporters_quota_are_rejected_and_counted(redis_url: str, storage: Storage) -> None:
    async with collector(redis_url, token_secret=SECRET, max_steps=1000) as client:
        answers = [
            await client.post("/traces", json=batch_of(number, 300), headers=bearer("flood")) for number in range(5)
        ]
        other = await client.post("/traces", json=batch_of(9, 300), headers=bearer("writer"))
    assert {answer.status_code for answer in answers} == {202}, "nothing that a reporter would send again"
    assert [answer.json()["accepted"] for answer in answers] == [300, 300, 300, 0, 0]
    assert len(answers[-1].json()["rejected"]) == 300
    assert other.json()["accepted"] == 300
    assert await storage.traces.refused("t1") == {"flood": 600}
    assert len(await reports(storage)) == 1200


async def test_steps_within_steps_use_up_the_quota(redis_url: str, storage: Storage) -> None:
    inner = [step(f"i{number}") for number in range(90)]
    action = {"agent_invocation": {"agent_name": "x", "response_trace": {"trace_id": "t1", "steps": inner}}}
    async with collector(redis_url, token_secret=SECRET, max_steps=100) as client:
        for number in range(3):
            sent = batch(step(f"s{number}", step_action=action), batch_id=f"b{number}")
            await client.post("/traces", json=sent, headers=bearer("flood"))
    assert await storage.traces.refused("t1") == {"flood": 2}


async def test_batches_without_steps_use_up_the_quota(redis_url: str, storage: Storage) -> None:
    async with collector(redis_url, token_secret=SECRET, max_steps=10) as client:
        for number in range(15):
            sent = batch(batch_id=f"b{number}", dropped={"buffer_full": 1})
            await client.post("/traces", json=sent, headers=bearer("flood"))
    assert await storage.traces.length("t1") == 10
    assert await storage.traces.refused("t1") == {"flood": 5}


async def test_the_reporter_drops_rejected_steps_and_every_step_is_counted_once(
    redis_url: str, storage: Storage
) -> None:
    async with collector(redis_url, max_steps=150) as client:
        reporter = TraceReporter()
        assignment = Assignment(
            assessment_id="a", trace_id="t1", step_id="r", agent_id="writer", collector_url=str(client.base_url)
        )
        for number in range(1000):
            reporter.report(InteractionStep(step_id=str(number), trace_id="t1", call_type=CallType.TOOL), assignment)
        await asyncio.to_thread(reporter.close, 5)
    kept = [each async for each in storage.traces.batches("t1")]
    assert (
        sum(each.n_steps + each.dropped for each in kept) + sum((await storage.traces.refused("t1")).values()) == 1000
    )
    assert len(kept) == 1


async def test_steps_in_band_are_held_to_the_quota(redis_url: str, storage: Storage, tmp_path: Path) -> None:
    traces: list[str] = []

    async def chatter(_: httpx.Request) -> JSONResponse:
        inner = [
            InteractionStep(step_id=f"{len(traces)}.{i}", trace_id=traces[0], call_type=CallType.TOOL)
            for i in range(60)
        ]
        traces.append(traces[0])
        trace = ResponseTrace(trace_id=traces[0], steps=inner).model_dump(mode="json", exclude_none=True)
        message = {
            "kind": "message",
            "role": "agent",
            "messageId": "m",
            "parts": [],
            "metadata": {TRACEABILITY_KEY: trace},
        }
        return JSONResponse({"jsonrpc": "2.0", "id": 1, "result": message})

    async with running_gateway(redis_url, tmp_path, max_steps=100) as gateway, agent_answering(chatter) as url:  # type: ignore[arg-type]
        participants = await gateway.trial({"a": url, "b": url})
        traces.append(participants["a"].claims.trace_id)
        async with httpx.AsyncClient(timeout=60) as http:
            for _ in range(4):
                await http.post(participants["a"].url_of("b"), json=send("message/send"))
        seen = await gateway.reports(traces[0], 4)
        in_band = await gateway.reports(traces[0], 60, Channel.IN_BAND)
        async with asyncio.timeout(60):
            while sum((await storage.traces.refused(traces[0])).values()) < 180:
                await asyncio.sleep(0.02)
    assert (len(seen), len(in_band)) == (4, 60)
    assert await storage.traces.refused(traces[0]) == {"b": 180}


@pytest.fixture
async def flooded(storage: Storage) -> Storage:
    """A trial of three agents with two observed calls, and 9,000 further calls that one agent claims."""
    await storage.assessments.save_plan(TEAM)
    ended = answered_by_all(TEAM, outcome()).model_dump_json()
    await TrialDocuments(storage.assessments).add(TEAM.assessment_id, "trial-1", "outcome", ended)
    claims = [call(f"c{number}", "", url=url_of(f"x{number}"), latency=1) for number in range(9000)]
    sent = [stored(0, carried(1, "A", "B")), stored(1, carried(2, "B", "C"))]
    sent += [
        stored(2 + lo, reported_by("A", *claims[lo : lo + 1000], authenticated=True)) for lo in range(0, 9000, 1000)
    ]
    for each in sent:
        await storage.traces.append(each, BatchReceipt(accepted=each.n_steps, rejected=[]))
    return storage


async def verdict_of(storage: Storage) -> TrialVerdict:
    trials = TrialDocuments(storage.assessments)
    async with asyncio.timeout(60):
        while (found := await trials.part(TEAM.assessment_id, "trial-1", "verdict")) is None:
            await asyncio.sleep(0.05)
    return TrialVerdict.model_validate_json(found)


async def test_a_flooded_trial_is_evaluated_within_its_jobs_limit(flooded: Storage, redis_url: str) -> None:
    async with workers(redis_url, max_tries=1, job_timeout_fast_s=EvaluatorSettings().job_timeout_fast_s):
        await flooded.jobs.enqueue(EVALUATE.job())
        verdict = await verdict_of(flooded)
    assert verdict.failure is None
    assert verdict.record is not None
    assert verdict.record.overall_score == 1.0
    assert {metric.id for metric in verdict.record.metrics if metric.agent is None} >= {"density", "max_betweenness"}


async def test_a_trial_whose_evaluation_times_out_keeps_its_score(flooded: Storage, redis_url: str) -> None:
    # No evaluation can end within a millisecond.
    async with workers(redis_url, max_tries=2, job_timeout_fast_s=0.001):
        await flooded.jobs.enqueue(EVALUATE.job())
        verdict = await verdict_of(flooded)
    assert verdict.record is not None
    assert (verdict.record.overall_score, verdict.record.usable, verdict.record.metrics) == (1.0, True, [])
    assert verdict.failure is not None
    assert verdict.failure.stage == "evaluation"
    assert [report.reporter async for report in flooded.traces.batches(TRACE_ID)].count("A") == 9
