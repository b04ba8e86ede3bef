"""The throughput of 1, 2 and 4 workers, on work that computes and on work that waits for a language model."""

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import httpx

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import EvaluateTrial, Queue
from concord.llm import LLMSettings
from concord.plain_http import NO_CERTIFICATES
from concord.storage.connection import Storage, connect
from concord.storage.trial_documents import TrialDocuments
from concord.trace.report import BatchReceipt
from lab.benchmarks.gateway import judging
from lab.benchmarks.processes import redis_server, wait_for
from lab.benchmarks.tables import ResultTable
from lab.benchmarks.traces.one_evaluation import outcome, plan
from tests.kit.llm_server import FakeModel, fake_model, honest_judge
from tests.kit.ports import free_port
from tests.kit.synthetic_traces import TRACE_ID, stored_batches

WORKERS: Final = (1, 2, 4)
JOBS: Final = 48
AGENTS: Final = 50
STEPS: Final = 3_000
MODEL_TAKES_S: Final = 1.0
MAX_JOBS: Final = 4
"""The default number of jobs that one worker runs at once."""


def measure(*, soak_s: float) -> list[ResultTable]:  # noqa: ARG001 - see `sections.Measure`
    """The throughput of both queues, by number of workers, and that of whole assessments."""
    with tempfile.TemporaryDirectory() as folder, redis_server(Path(folder) / "redis") as redis_url:
        queues = asyncio.run(_measured(redis_url))
    return [queues, judging.measure()]


async def _measured(redis_url: str) -> ResultTable:
    model = FakeModel(honest_judge(), delay_s=MODEL_TAKES_S)
    rates: dict[int, tuple[float, float]] = {}
    async with connect(redis_url) as storage, fake_model(model) as endpoint:
        for batch in stored_batches(AGENTS, STEPS):
            await storage.traces.append(batch, BatchReceipt(accepted=batch.n_steps, rejected=[]))
        for workers in WORKERS:
            rates[workers] = await _rates(storage, redis_url, endpoint, workers)
            assert len(model.asked) >= JOBS * len(rates)
    first = rates[WORKERS[0]]
    return ResultTable(
        "Trials a second, by workers of a queue",
        f"{JOBS} trials of {AGENTS} agents and {STEPS:,} steps, counted once every worker has done one. Computes: "
        f"evaluation, one pool process for each worker. Waits: judgment, by a model that answers after "
        f"{MODEL_TAKES_S:g} s; a worker runs {MAX_JOBS} jobs at once. {os.cpu_count()} cores.",
        ("workers", "computes", "ratio", "waits", "ratio"),
        [
            (str(workers), f"{fast:.2f}", f"{fast / first[0]:.2f}", f"{llm:.2f}", f"{llm / first[1]:.2f}")
            for workers, (fast, llm) in rates.items()
        ],
    )


async def _rates(storage: Storage, redis_url: str, endpoint: LLMSettings, workers: int) -> tuple[float, float]:
    """Trials per second: evaluations by workers of the fast queue, and then judgments by workers of the other queue."""
    planned = _plan(workers, JOBS)
    await storage.assessments.save_plan(planned)
    computed = await _drained(storage, redis_url, endpoint, Queue.FAST, workers, planned)
    # Every evaluation has queued its judgment.
    waited = await _drained(storage, redis_url, endpoint, Queue.LLM, workers, planned)
    return computed, waited


async def _drained(
    storage: Storage, redis_url: str, endpoint: LLMSettings, queue: Queue, workers: int, planned: AssessmentPlan
) -> float:
    """Jobs per second, from the moment when every worker has done its first job until the queue is empty."""
    with _workers(redis_url, endpoint, queue, workers) as ports:
        if queue is Queue.FAST:
            await _queue_evaluations(storage, planned)
        async with httpx.AsyncClient(verify=NO_CERTIFICATES) as http:
            while not all([await _done(http, port) for port in ports]):  # noqa: ASYNC110 - they are other processes
                await asyncio.sleep(0.05)
        began, left = time.perf_counter(), await storage.jobs.depth(queue)
        assert left > 0
        while await storage.jobs.depth(queue):  # noqa: ASYNC110 - other processes empty it
            await asyncio.sleep(0.01)
        return left / (time.perf_counter() - began)


async def _done(http: httpx.AsyncClient, port: int) -> float:
    """The number of attempts at jobs that a worker has ended."""
    exposition = (await http.get(f"http://127.0.0.1:{port}/metrics")).text
    return sum(map(float, re.findall(r"^concord_evaluator_job_seconds_count.* (\S+)$", exposition, re.MULTILINE)))


async def _queue_evaluations(storage: Storage, planned: AssessmentPlan) -> None:
    for number, trial in enumerate(planned.trials):
        # The judge's cache would answer for trials with the same answer.
        ended = outcome().model_copy(
            update={"trial_id": trial.trial_id, "answer": f"Done, {number} of {planned.assessment_id}."}
        )
        trials = TrialDocuments(storage.assessments)
        await trials.add(planned.assessment_id, trial.trial_id, "outcome", ended.model_dump_json())
        job = EvaluateTrial(assessment_id=planned.assessment_id, trial_id=trial.trial_id).job()
        await storage.jobs.enqueue(job)


def _plan(workers: int, trials: int) -> AssessmentPlan:
    """An assessment whose trials share one trace."""
    template = plan(AGENTS)
    [trial] = template.trials
    copies = [
        trial.model_copy(update={"trial_id": f"trial-{number}", "run": number}) for number in range(1, trials + 1)
    ]
    return template.model_copy(update={"assessment_id": f"{TRACE_ID}-{workers}", "trials": copies})


@contextmanager
def _workers(redis_url: str, endpoint: LLMSettings, queue: Queue, count: int) -> Iterator[list[int]]:
    """Starts workers. Yields the ports of their metrics."""
    key = endpoint.api_key.get_secret_value() if endpoint.api_key is not None else ""
    variables = {
        "REDIS_URL": redis_url,
        "CONCORD_POOL_PROCESSES": "1",
        "CONCORD_MAX_JOBS": str(MAX_JOBS),
        "CONCORD_LOG_LEVEL": "WARNING",
        # Attempts that end at their limit on a busy machine would count as work.
        "CONCORD_JOB_TIMEOUT_FAST_S": "120",
        "CONCORD_JOB_TIMEOUT_LLM_S": "120",
        "AGENTBEATS_LLM_API_KEY": key,
        "AGENTBEATS_LLM_BASE_URL": endpoint.base_url,
        "AGENTBEATS_LLM_MODEL": endpoint.model,
    }
    with ExitStack() as stack:
        ports = [free_port() for _ in range(count)]
        for port in ports:
            command = [sys.executable, "-m", "concord_evaluator", "--queue", queue, "--port", str(port)]
            process = stack.enter_context(subprocess.Popen(command, env=os.environ | variables))
            stack.callback(process.terminate)
        for port in ports:
            wait_for(partial(_answers, port), timeout_s=120)
        yield ports


def _answers(port: int) -> bool:
    return httpx.get(f"http://127.0.0.1:{port}/metrics").is_success
