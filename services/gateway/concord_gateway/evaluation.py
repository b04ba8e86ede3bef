"""The gateway's side of evaluation: enqueues jobs, and waits for verdicts and the row, even if a worker dies."""

import asyncio
import logging
import time
from typing import Final

from concord.assessment.jobs import (
    ROW_DOCUMENT,
    ROW_FAILURE_DOCUMENT,
    AggregateAssessment,
    EvaluateTrial,
    JobRequest,
    Queue,
    TrialVerdict,
    trial_document,
)
from concord.assessment.result_row import InfrastructureFailure, ResultRow
from concord.errors import StorageUnavailableError
from concord.storage.connection import Storage
from concord.storage.job_policy import REQUEST_AGAIN_S, WORKERS_S

logger = logging.getLogger(__name__)

_POLL_S: Final = 0.1
_POLL_SHARE: Final = 0.05
"""The poll interval as a share of the time waited so far: long waits poll Redis less often."""


class NoWorkerError(Exception):
    """No worker of the evaluator answers on a queue; the message says which."""


class EvaluationFailedError(Exception):
    """The evaluator delivered no result; `failure` says where and why."""

    def __init__(self, failure: InfrastructureFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def check_workers(storage: Storage) -> None:
    """Raises NoWorkerError if a queue of the evaluator has no worker, and StorageUnavailableError."""
    without = [queue for queue in Queue if not await storage.jobs.has_worker(queue)]
    if without:
        queues = " and ".join(f"{queue.value!r}" for queue in without)
        raise NoWorkerError(f"no worker of the evaluator answers on the queue {queues}")


async def wait_for_workers(storage: Storage) -> None:
    """Waits until every queue of the evaluator has a worker. Raises as `check_workers` does after `WORKERS_S`."""
    deadline = time.monotonic() + WORKERS_S
    while True:
        try:
            await check_workers(storage)
        except NoWorkerError:
            if time.monotonic() >= deadline:
                raise
            await asyncio.sleep(_POLL_S * 5)
        else:
            return


async def evaluate_trial(storage: Storage, request: EvaluateTrial, timeout_s: float) -> TrialVerdict:
    """Requests the evaluation of a closed trial and waits for its verdict. Raises EvaluationFailedError on timeout."""
    document = await _result_of(storage, request, [trial_document(request.trial_id)], timeout_s)
    if document is None:
        raise EvaluationFailedError(_late("evaluation", request.trial_id, timeout_s))
    return TrialVerdict.model_validate_json(document[1])


async def aggregate(storage: Storage, request: AggregateAssessment, timeout_s: float) -> ResultRow:
    """Requests the row and waits for it. Raises EvaluationFailedError."""
    document = await _result_of(storage, request, [ROW_DOCUMENT, ROW_FAILURE_DOCUMENT], timeout_s)
    if document is None:
        raise EvaluationFailedError(_late("aggregation", None, timeout_s))
    name, content = document
    if name == ROW_FAILURE_DOCUMENT:
        raise EvaluationFailedError(InfrastructureFailure.model_validate_json(content))
    return ResultRow.model_validate_json(content)


async def _result_of(
    storage: Storage, request: JobRequest, names: list[str], timeout_s: float
) -> tuple[str, str] | None:
    """Enqueues a job and waits for one of its documents.

    The job is enqueued again every few seconds. That has no effect while the job is pending, and restores a job that
    Redis lost. Storage faults are retried.
    """
    began = time.monotonic()
    asked_at = -REQUEST_AGAIN_S
    while (now := time.monotonic()) - began < timeout_s:
        try:
            for name in names:
                if (content := await storage.assessments.load(request.assessment_id, name)) is not None:
                    return name, content
            if now - asked_at >= REQUEST_AGAIN_S:
                await storage.jobs.enqueue(request.job())
                asked_at = now
        except StorageUnavailableError as error:
            logger.warning("still waiting for the result of job %s: %s", request.job_id, error)
            await asyncio.sleep(_POLL_S * 5)
        await asyncio.sleep(max(_POLL_S, _POLL_SHARE * (now - began)))
    return None


def _late(stage: str, trial_id: str | None, timeout_s: float) -> InfrastructureFailure:
    return InfrastructureFailure.model_validate(
        {"trial_id": trial_id, "stage": stage, "message": f"no result from the evaluator within {timeout_s:g} s"}
    )
