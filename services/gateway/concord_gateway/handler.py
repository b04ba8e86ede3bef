"""The gateway as an A2A agent: one message in, one assessment, one artifact out."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import structlog
from opentelemetry.trace import Span
from pydantic import JsonValue
from pydantic_core import to_json

from concord.a2a import IncomingMessage, TaskHandle
from concord.assessment import AssessmentPlan, AssessmentRequest
from concord.assessment.request import unread_keys
from concord.assessment.suite_tasks import secret_file
from concord.assessment.verdict_text import headline_of
from concord.errors import StorageUnavailableError
from concord.files import atomic_file
from concord.processes import Calls
from concord.storage.connection import Storage
from concord.storage.trial_documents import ForeignDocumentError
from concord.tracing import ASSESSMENT_ID, fail, root, span
from concord.trust.redaction import redact
from concord_gateway.assessment import RunningAssessment
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.assistants import AssistantContexts, Assistants, Scenarios
from concord_gateway.bundles import BundleClient, files_by_age, write_bundle
from concord_gateway.evaluation import EvaluationFailedError, MadeRow, NoWorkerError, wait_for_workers
from concord_gateway.instruments import Instruments
from concord_gateway.intake import (
    MissingInputError,
    NotAnAssessmentError,
    Work,
    check_hosts,
    check_patterns,
    plan_work,
    read_request,
    request_text,
)
from concord_gateway.plan import NoParticipantError, Participants, exchanges_of, make_plan
from concord_gateway.progress import Progress
from concord_gateway.settings import GatewaySettings

# Admission control: a bounded number of assessments run, a bounded number wait in order, and the rest are refused.

MAX_WAITING_BYTES: Final = 64 * 1024 * 1024
"""Limit on the requests that wait, together: each is kept unparsed until its turn."""


class FullError(Exception):
    """The waiting line is full; the text tells the client."""


@dataclass(frozen=True, slots=True, eq=False)
class _Waiting:
    owner: str
    size: int
    on_move: Callable[[int], None]
    turn: asyncio.Event = field(default_factory=asyncio.Event)


class AdmissionControl:
    """Slots for running assessments, granted in order of arrival to owners that have not their share of them."""

    def __init__(self, places: int, max_waiting: int, *, share: float = 1.0) -> None:
        """`share`: the part of the places, and of the waiting line, that one owner may take (at least one of each)."""
        self._places = places
        self._share = share
        self._taken_by: Counter[str] = Counter()
        self._max_waiting = max_waiting
        self._queue: list[_Waiting] = []

    @property
    def running(self) -> int:
        """The number of assessments that have a slot."""
        return self._taken_by.total()

    @property
    def waiting(self) -> int:
        """The number of assessments that wait."""
        return len(self._queue)

    @asynccontextmanager
    async def place(
        self,
        size: int,
        on_wait: Callable[[int], Awaitable[None]],
        on_move: Callable[[int], None],
        *,
        owner: str = "",
        accepted: bool = False,
    ) -> AsyncIterator[None]:
        """Holds a slot for the duration of the block. Raises FullError, unless the assessment was `accepted` before.

        `size` is the length of the request (bytes). `on_wait` gets the position once, if there is no slot yet (1: next
        in line), and `on_move` gets each new position. `owner`: whose share of the places it takes.
        """
        this = _Waiting(owner, size, on_move)
        if self._may_take(owner):
            self._taken_by[owner] += 1
        elif accepted or (refusal := self._refusal(owner, size)) is None:
            self._queue.append(this)
        else:
            raise FullError(refusal)
        try:
            if this in self._queue:
                await on_wait(len(self._queue))
                await this.turn.wait()
            yield
        finally:
            if this in self._queue:
                self._dequeue(this)
            else:
                self._leave(owner)

    def _of_one(self, count: int) -> int:
        return max(1, int(count * self._share))

    def _may_take(self, owner: str) -> bool:
        return self.running < self._places and self._taken_by[owner] < self._of_one(self._places)

    def _refusal(self, owner: str, size: int) -> str | None:
        """Why an assessment cannot wait; None if it can."""
        theirs = [each.size for each in self._queue if each.owner == owner]
        if len(theirs) >= self._of_one(self._max_waiting) or sum(theirs) + size > self._of_one(MAX_WAITING_BYTES):
            mine = f"{self._taken_by[owner]} assessments are running and {len(theirs)} wait"
            return f"busy: {mine}{' of this API key' if owner else ''}; try again later"
        waiting_bytes = sum(each.size for each in self._queue)
        if self.waiting >= self._max_waiting or waiting_bytes + size > MAX_WAITING_BYTES:
            return f"busy: {self.running} assessments are running and {self.waiting} wait; try again later"
        return None

    def _leave(self, owner: str) -> None:
        """Passes the slot to the first in line whose owner has not its share."""
        self._taken_by -= Counter([owner])
        if (first := next((each for each in self._queue if self._may_take(each.owner)), None)) is not None:
            self._dequeue(first)
            self._taken_by[first.owner] += 1
            first.turn.set()

    def _dequeue(self, gone: _Waiting) -> None:
        self._queue.remove(gone)
        for position, each in enumerate(self._queue, start=1):
            each.on_move(position)


# `results.json` on the gateway's disk, in the format that the platform's client writes.


def write_results(output_dir: Path, plan: AssessmentPlan, row: JsonValue, *, keep: int) -> Path:
    """Writes `assessments/<id>.json`, then replaces `results.json`, and returns the latter's path. Raises OSError.

    `row`: a `ResultRow` as JSON. Keeps the newest `keep` files in `assessments`. The secret of an assessment's tasks
    goes to a file of its own, which only its owner can read.
    """
    participants = {entry.id: entry.agentbeats_id for entry in plan.roster if entry.agentbeats_id is not None}
    document = redact(to_json({"participants": participants, "results": [row]}, indent=2))  # a `ResultsDocument`
    _replace(output_dir / "assessments" / f"{plan.assessment_id}.json", document)
    for old, _ in files_by_age(output_dir / "assessments", ".json")[keep:]:
        old.unlink(missing_ok=True)
    if plan.task_secret is not None:
        _replace(secret_file(output_dir, plan.assessment_id), plan.task_secret.encode(), mode=0o600)
    latest = output_dir / "results.json"
    _replace(latest, document)
    return latest


def _replace(path: Path, content: bytes, mode: int = 0o644) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_file(path, mode) as file:
        file.write(content + b"\n")


# The handler of a message.

logger = logging.getLogger(__name__)

RESULTS_S: Final = 10.0
"""How long the client's row waits for the gateway's own files of it."""


class AssessmentHandler:
    """Handles incoming messages. Asks for the agents if a message names none, rejects a message that requests no valid
    assessment, and fails an assessment that cannot be carried out."""

    def __init__(
        self,
        storage: Storage,
        settings: GatewaySettings,
        instruments: Instruments,
        participants: Participants,
        contexts: AssistantContexts,
        checks: Calls,
        *,
        share: float = 1.0,
    ) -> None:
        """`share`: see `AdmissionControl`."""
        self._storage = storage
        self._participants = participants
        self._settings = settings
        self._instruments = instruments
        self._scenarios = Scenarios(settings.scenario_folders)
        self._contexts = contexts
        self._checks = checks
        self._admission = AdmissionControl(settings.max_assessments, settings.max_waiting, share=share)
        instruments.running.set_function(lambda: self._admission.running)
        instruments.waiting.set_function(lambda: self._admission.waiting)
        self._evaluations = asyncio.Semaphore(settings.max_queued_trials)

    async def __call__(self, message: IncomingMessage, task: TaskHandle) -> None:
        """See `concord.a2a.Handler`."""
        progress = Progress(task)
        try:
            read: Work | None = None
            if not task.resumed:
                read = await self._read(message)
                await check_patterns(read.request, task.owner or message.task_id, self._checks)

            async def wait(position: int) -> None:
                nonlocal read
                read = None  # a waiting request is kept unparsed, which takes less memory
                await progress.wait(position)

            place = self._admission.place(
                len(message.text), wait, progress.move, owner=task.owner, accepted=task.resumed
            )
            async with progress.heartbeat(), place:
                progress.begin()
                with span("assessment", parent=root()) as traced:
                    await self._assess(message, task, progress, traced, read)
        except MissingInputError as error:
            await progress.flush()
            await task.input_required(str(error))
        except (NotAnAssessmentError, FullError) as error:
            self._instruments.assessments.labels(outcome="rejected").inc()
            logger.info("rejected the assessment: %s", error)
            await progress.flush()
            await task.reject(redact(f"Rejected: {error}"))

    async def _read(self, message: IncomingMessage) -> Work:
        """Parses a message. Raises NotAnAssessmentError, MissingInputError."""
        work = await asyncio.to_thread(lambda: plan_work(read_request(message), self._scenarios))
        if any(task.scenario for task in work.tasks) and not self._contexts.reachable:
            raise NotAnAssessmentError(
                "`scenario` needs an address of this gateway for assistants (--card-url, CONCORD_ENVIRONMENT_URL)"
            )
        await check_hosts(work.request, self._participants.peer_urls)
        return work

    async def _assess(
        self, message: IncomingMessage, task: TaskHandle, progress: Progress, traced: Span, read: Work | None
    ) -> None:
        """Carries an assessment out. `read`: the parsed message, unless it waited or continues a lost assessment."""
        try:
            with span("plan"):
                record = await self._record(message, task, progress, read)
        except NoParticipantError as error:
            await self._fail(task, progress, f"could not reach {error}")
            return
        except (StorageUnavailableError, ForeignDocumentError) as error:
            await self._fail(task, progress, f"no result: {error}")
            return
        structlog.contextvars.bind_contextvars(assessment_id=record.plan.assessment_id)
        traced.set_attribute(ASSESSMENT_ID, record.plan.assessment_id)
        run = RunningAssessment(
            record,
            self._storage,
            self._settings,
            progress,
            self._participants,
            self._evaluations,
            Assistants(self._scenarios, self._contexts, self._storage.assessments, message.context_id),
            self._instruments,
        )
        logger.info("running an assessment of %d trials, mode %s", len(record.plan.trials), record.plan.mode.value)
        await self._finish(run, task, message)

    async def _record(
        self, message: IncomingMessage, task: TaskHandle, progress: Progress, read: Work | None
    ) -> AssessmentRecord:
        """The record of this task's run: the one that a lost gateway left, or a new one.

        Raises NotAnAssessmentError, NoParticipantError, StorageUnavailableError.
        """
        if (
            task.checkpoint is not None
            and (begun := await AssessmentRecord.of(self._storage.assessments, task.checkpoint)) is not None
        ):
            await progress.tell(
                f"the gateway was lost; going on after {len(begun.over)} of {len(begun.plan.trials)} trials"
            )
            return begun
        work = read or await self._read(message)
        await progress.tell(f"assessing {_participants(work.request)}")
        for sentence in unread_keys(work.request.config, work.tasks):
            await progress.tell(sentence)
        plan, failures, cards = await make_plan(work, self._participants, progress, self._settings.secret_of_tasks())
        plan = plan.model_copy(update={"prices": self._settings.prices})
        if (started := self._settings.started_containers) is not None:
            plan = plan.model_copy(update={"seat_containers": started.around(plan)})
        if plan.task_commitment is not None:
            await progress.tell(f"the tasks follow from a secret with the SHA-256 {plan.task_commitment}")
        if (exchanges := exchanges_of(plan)) is not None:
            await progress.tell(exchanges)
        record = await AssessmentRecord.begin(self._storage.assessments, plan, work.limits, failures)
        record.cards = cards
        await task.save_checkpoint(plan.assessment_id)
        return record

    async def _finish(self, run: RunningAssessment, task: TaskHandle, message: IncomingMessage) -> None:
        """Runs an assessment and answers with its row. Once storage has the row, nothing here can take it back."""
        progress = run.progress
        try:
            await wait_for_workers(self._storage)
            with self._instruments.assessment_seconds.time():
                row = await run.run()
            request, folder = request_text(message), self._settings.output_dir
            client = BundleClient.of(run.plan.assessment_id, task.owner, message.task_id)
            row = await write_bundle(self._storage, run.record, request, row, folder, client)
            await self._write_results(run, row)
        except (EvaluationFailedError, ForeignDocumentError, NoWorkerError, StorageUnavailableError) as error:
            await self._retire(run)
            await self._fail(task, progress, f"no result: {error}")
            return
        except asyncio.CancelledError:
            if task.canceled:  # otherwise another gateway continues the assessment
                await self._retire(run)
            raise
        if run.plan.trials and row.head.scoring.usable_trials == 0:
            reasons = "; ".join(failure.message for failure in row.head.infrastructure) or "no trial was usable"
            await self._fail(task, progress, f"no usable trial: {reasons}")
        else:
            await progress.flush()
            await task.complete(data=row.document, status=_headline(row), artifact_name="result")
            self._instruments.assessments.labels(outcome="completed").inc()
        self._instruments.count_row(row.head, len(run.plan.trials))
        await self._retire(run)

    async def _write_results(self, run: RunningAssessment, row: MadeRow) -> None:
        """Writes the gateway's own files of a row, which the client has without them. Raises nothing."""
        written = asyncio.to_thread(
            write_results, self._settings.output_dir, run.plan, row.document, keep=self._settings.keep_assessments
        )
        try:
            logger.info("wrote %s", await asyncio.wait_for(written, RESULTS_S))
        except Exception as error:  # of whatever a disk or a file system is like
            self._instruments.unwritten.inc()
            logger.error("cannot write the row to the output folder: %s", str(error) or f"not within {RESULTS_S:g} s")

    async def _retire(self, run: RunningAssessment) -> None:
        with suppress(StorageUnavailableError):  # the documents then expire as if the assessment had not ended
            await self._storage.assessments.retire(run.plan, self._settings.keep_s, tokens_s=run.tokens_s)

    async def _fail(self, task: TaskHandle, progress: Progress, reason: str) -> None:
        self._instruments.assessments.labels(outcome="failed").inc()
        logger.error("the assessment failed: %s", reason)
        fail(reason)
        await progress.flush()
        await task.fail(redact(f"Failed: {reason}"))


def _participants(request: AssessmentRequest) -> str:
    count = len(request.participants)
    return "a pattern of agents" if not count else "1 participant" if count == 1 else f"{count} participants"


def _headline(row: MadeRow) -> str:
    if not row.head.scoring.usable_trials or row.head.verdict is None:
        return "No trial is this shard's."
    return redact(headline_of(row.head.verdict))
