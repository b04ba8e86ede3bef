"""The gateway's side of evaluation: enqueues jobs, and waits for verdicts and the row, even if a worker dies."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, JsonValue
from pydantic_core import from_json
from tenacity import AsyncRetrying, retry_if_exception_type, stop_after_delay, wait_fixed

from concord.assessment.jobs import (
    ROW_DOCUMENT,
    ROW_FAILURE_DOCUMENT,
    AggregateAssessment,
    EvaluateTrial,
    JobRequest,
    Queue,
    VerdictHead,
)
from concord.assessment.result_row import InfrastructureFailure, Loss, cause_of
from concord.assessment.verdict import Verdict
from concord.errors import StorageUnavailableError
from concord.storage.connection import Storage
from concord.storage.job_policy import REQUEST_AGAIN_S, WORKERS_S
from concord.storage.trial_documents import TrialDocuments

# The row as the evaluator made it. The gateway reads little of it, and hands it on as JSON.


class _Read(BaseModel):
    """A part of the row, with the fields that are read here."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class _Judge(_Read):
    source: Literal["rules", "llm"]


class TrialHead(_Read):
    """What the gateway counts of a trial."""

    usable: bool
    overall_score: float | None
    judge: _Judge | None


class _Scoring(_Read):
    usable_trials: int


class RowHead(_Read):
    """What the gateway reads of a row's detail."""

    scoring: _Scoring
    trials: list[TrialHead]
    infrastructure: list[InfrastructureFailure]
    verdict: Verdict | None = None


class _Row(_Read):
    detail: RowHead


@dataclass(frozen=True, slots=True)
class MadeRow:
    """A row: its JSON, a valid `ResultRow`, and what is read of it. To validate all of it again takes longer than all
    else that the gateway does with it."""

    head: RowHead
    document: dict[str, Any]

    @classmethod
    def read(cls, text: str) -> Self:
        """The row in its JSON. Raises ValueError."""
        return cls(_Row.model_validate_json(text).detail, from_json(text))

    def with_bundle(self, sha256: str) -> Self:
        """The row with the digest of its bundle."""
        return self._with("bundle_sha256", sha256)

    def with_warning(self, warning: str) -> Self:
        """The row with a further warning."""
        return self._with("warnings", [*self.document["detail"]["warnings"], warning])

    def _with(self, name: str, value: JsonValue) -> Self:
        return replace(self, document={**self.document, "detail": {**self.document["detail"], name: value}})


# Jobs are enqueued, and their results awaited.

T = TypeVar("T")

logger = logging.getLogger(__name__)

_STORAGE_PAUSE_S: Final = 0.5
_POLL_S: Final = 0.5
_POLL_SHARE: Final = 0.05
"""How often a result is looked for whose job's end nobody told, and that as a share of the time waited so far."""


class NoWorkerError(Exception):
    """No worker of the evaluator answers on a queue; the message says which."""


class EvaluationFailedError(Exception):
    """The evaluator delivered no result; `failure` says where and why."""

    def __init__(self, failure: InfrastructureFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure


async def check_workers(storage: Storage) -> None:
    """Raises NoWorkerError if a queue of the evaluator has no worker, and StorageUnavailableError."""
    without = [queue for queue in Queue if await storage.jobs.worker_note(queue) is None]
    if without:
        queues = " and ".join(f"{queue.value!r}" for queue in without)
        raise NoWorkerError(f"no worker of the evaluator answers on the queue {queues}")


async def wait_for_workers(storage: Storage) -> None:
    """Waits until every queue of the evaluator has a worker. Raises as `check_workers` does after `WORKERS_S`."""
    await retrying(NoWorkerError, WORKERS_S)(check_workers, storage)


async def wait_for_storage(storage: Storage, timeout_s: float) -> None:
    """Waits until storage answers. Raises StorageUnavailableError after `timeout_s`."""
    await retrying(StorageUnavailableError, timeout_s)(storage.ping)


def retrying(error: type[Exception], limit_s: float, pause_s: float = _STORAGE_PAUSE_S) -> AsyncRetrying:
    """Tries something again after this error, which is raised in the end."""
    retry, stop = retry_if_exception_type(error), stop_after_delay(limit_s)
    return AsyncRetrying(retry=retry, stop=stop, wait=wait_fixed(pause_s), reraise=True)


class Evaluations:
    """The evaluations of one assessment: requests them, and waits for each for at most `timeout_s`."""

    def __init__(self, storage: Storage, assessment_id: str, timeout_s: float) -> None:
        self._storage = storage
        self._assessment_id = assessment_id
        self._timeout_s = timeout_s
        self._trials = TrialDocuments(storage.assessments)

    async def of_trial(self, request: EvaluateTrial) -> VerdictHead:
        """Requests the evaluation of a closed trial and waits for its verdict. Raises EvaluationFailedError."""

        async def verdict() -> VerdictHead | None:
            found = await self._trials.part(self._assessment_id, request.key, "verdict")
            made = None if found is None else VerdictHead.model_validate_json(found)
            return None if made is None or (request.again and made.is_lost) else made

        return await self._result_of(request, verdict)

    async def row(self, request: AggregateAssessment) -> MadeRow:
        """Requests the row and waits for it. Raises EvaluationFailedError."""

        async def row() -> MadeRow | None:
            names = [ROW_DOCUMENT, ROW_FAILURE_DOCUMENT]
            found, failure = await self._storage.assessments.load_all(self._assessment_id, names)
            if found is None and failure is not None:
                raise EvaluationFailedError(InfrastructureFailure.model_validate_json(failure))
            return None if found is None else await asyncio.to_thread(MadeRow.read, found)

        return await self._result_of(request, row)

    async def _result_of(self, request: JobRequest, load: Callable[[], Awaitable[T | None]]) -> T:
        """Enqueues a job and waits for its result. Raises EvaluationFailedError after the time limit.

        A worker tells when a job has ended; the result is also looked for now and then, in case that word is lost.
        The job is enqueued again every few seconds. That has no effect while the job is pending, and restores a job
        that Redis lost. Storage faults are retried.
        """
        began = time.monotonic()
        asked_at = -REQUEST_AGAIN_S
        with self._storage.jobs.ended.awaited(request.job_id) as ended:
            while (now := time.monotonic()) - began < self._timeout_s:
                try:
                    if now - asked_at >= REQUEST_AGAIN_S:
                        await self._storage.jobs.enqueue(request.job())
                        asked_at = now
                    with suppress(TimeoutError):
                        async with asyncio.timeout(max(_POLL_S, _POLL_SHARE * (now - began))):
                            await ended.wait()
                    ended.clear()
                    if (result := await load()) is not None:
                        return result
                except StorageUnavailableError as error:
                    logger.warning("still waiting for the result of job %s: %s", request.job_id, error)
                    await asyncio.sleep(_STORAGE_PAUSE_S)
        trial = request if isinstance(request, EvaluateTrial) else None
        raise EvaluationFailedError(
            InfrastructureFailure(
                trial_id=None if trial is None else trial.trial_id,
                stage="aggregation" if trial is None else "evaluation",
                message=f"no result from the evaluator within {self._timeout_s:g} s",
                attempt=1 if trial is None else trial.attempt,
                loss=Loss.WORKER,
                caused_by=cause_of(Loss.WORKER),
            )
        )


# Evaluations that worker or judge lost: each is made once more from the stored trace, when all trials are over.


@dataclass(slots=True)
class LostEvaluations:
    """The evaluations that worker or judge lost, by trial id. One that failed otherwise would fail again."""

    by_worker: dict[str, EvaluateTrial] = field(default_factory=dict)
    by_judge: dict[str, EvaluateTrial] = field(default_factory=dict)

    def note(self, request: EvaluateTrial, verdict: VerdictHead | None) -> None:
        """Notes the end of an evaluation; `verdict`: None if there is none."""
        again = request.model_copy(update={"again": True})
        if verdict is None or (verdict.is_lost and not verdict.lost_by_judge):
            self.by_worker[request.trial_id] = again
        elif verdict.is_lost:
            self.by_judge[request.trial_id] = again

    def forget(self, trial_id: str) -> None:
        """Forgets a trial, which is played again."""
        self.by_worker.pop(trial_id, None)
        self.by_judge.pop(trial_id, None)

    async def make_again(self, evaluations: Evaluations, slots: asyncio.Semaphore) -> None:
        """Has all of them made again. If the judge is still away, it is asked about one trial only.

        `slots`: for trials that await their evaluation.
        """

        async def judged(request: EvaluateTrial) -> bool:
            async with slots:
                try:
                    verdict = await evaluations.of_trial(request)
                except EvaluationFailedError:
                    return False
            return not verdict.lost_by_judge

        await asyncio.gather(*map(judged, self.by_worker.values()))
        unjudged = list(self.by_judge.values())
        if unjudged and await judged(unjudged[0]):
            await asyncio.gather(*map(judged, unjudged[1:]))
