"""Writes the bundle of an assessment, from which its row can be computed again, and adds its digest to the row."""

import asyncio
import base64
import logging
import zlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO, Final

from concord.assessment import TrialSpec
from concord.assessment.jobs import ROW_INPUTS_DOCUMENT, VerdictHead, conducted_document
from concord.assessment.results import TrialOutcome
from concord.bundle import (
    PLAN,
    REQUEST,
    ROW_INPUTS,
    BundleWriter,
    TrialMember,
    bundle_file,
    report_line,
    trial_member,
)
from concord.files import atomic_file
from concord.storage import TrialDocuments
from concord.storage.connection import Storage
from concord.trace.report import ReportBatch
from concord.trust.redaction import redact
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.bundle_access import BundleClient, keep_client
from concord_gateway.made_row import MadeRow

logger = logging.getLogger(__name__)

MAX_KEPT_BYTES: Final = 128 * 2**20
"""Bytes of all bundles in an output folder, which may be in memory. The gateway removes the oldest bundles."""

LIMIT_S: Final = 60.0
"""How long the row waits for its bundle."""


_TOGETHER: Final = 20
"""Trials whose documents are read together."""

_GROUP_BYTES: Final = 2**20
"""Bytes of compressed batches that are written together."""


class _NoInputsError(Exception):
    """The evaluator stored no inputs of the row."""


async def write_bundle(
    storage: Storage, record: AssessmentRecord, request: str, row: MadeRow, output_dir: Path, client: BundleClient
) -> MadeRow:
    """Writes `bundles/<assessment id>.zip`, which only its owner can read, and returns the row with its SHA-256.

    `request`: the text of the client's request; `client`: who may fetch the bundle. Raises nothing: without a bundle
    within `LIMIT_S`, the row has no digest, and a warning with the reason.
    """
    path = bundle_file(output_dir, record.plan.assessment_id)
    try:
        async with asyncio.timeout(LIMIT_S):
            await _write(storage, record, request, path)
            digest = await asyncio.to_thread(_finish, path)
    except TimeoutError:
        return _without(row, f"it was not written within {LIMIT_S:g} s")
    except Exception as error:  # the row is made, whatever its bundle's members or its disk are like
        return _without(row, _reason(error))
    try:
        await asyncio.to_thread(keep_client, output_dir, digest, client)
    except OSError as error:
        logger.warning("the client cannot fetch its bundle: %s", error.strerror)
    return row.with_bundle(digest)


def _without(row: MadeRow, reason: str) -> MadeRow:
    logger.warning("the assessment has no bundle: %s", reason)
    return row.with_warning(redact(f"This row cannot be computed again, for want of a bundle: {reason}."))


def _reason(error: Exception) -> str:
    """Why there is no bundle, without the names of folders, which the client does not know."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


async def _write(storage: Storage, record: AssessmentRecord, request: str, path: Path) -> None:
    assessment_id = record.plan.assessment_id
    plan = await storage.assessments.plan(assessment_id)
    inputs = await storage.assessments.load(assessment_id, ROW_INPUTS_DOCUMENT)
    if plan is None or inputs is None:
        raise _NoInputsError("the evaluator stored no inputs of the row")
    head = {PLAN: plan.model_dump_json(by_alias=True), REQUEST: redact(request), ROW_INPUTS: redact(inputs)}
    async with _replaced(path) as file:
        with BundleWriter(file) as writer:
            await asyncio.to_thread(_add, writer, head)
            for trials in _in_groups(plan.trials):
                await _write_trials(storage, record, trials, writer)
            await asyncio.to_thread(writer.close, assessment_id, plan.task_commitment)


def _add(writer: BundleWriter, members: Mapping[str, str]) -> None:
    for name, content in members.items():
        writer.add(name, content)


def _in_groups(trials: Sequence[TrialSpec]) -> Iterator[Sequence[TrialSpec]]:
    return (trials[first : first + _TOGETHER] for first in range(0, len(trials), _TOGETHER))


@asynccontextmanager
async def _replaced(path: Path) -> AsyncIterator[BinaryIO]:
    """As `atomic_file`; a slow disk does not hold up the event loop. Only its owner can read the file: it has the
    secret of the tasks."""
    await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    with ExitStack() as unless_written:
        file = unless_written.enter_context(atomic_file(path, 0o600))
        yield file
        await asyncio.to_thread(unless_written.pop_all().close)


async def _write_trials(
    storage: Storage, record: AssessmentRecord, trials: Sequence[TrialSpec], writer: BundleWriter
) -> None:
    """Writes the members of these trials. Each wait for storage or for a thread takes long beside a busy assessment."""
    assessment_id, keys = record.plan.assessment_id, [trial.key for trial in trials]
    verdicts = await TrialDocuments(storage.assessments).parts(assessment_id, keys, "verdict")
    conducted = await storage.assessments.load_all(assessment_id, [conducted_document(key) for key in keys])
    for trial, document, told in zip(trials, verdicts, conducted, strict=True):
        verdict = VerdictHead() if document is None else VerdictHead.model_validate_json(document)
        await asyncio.to_thread(_add_documents, writer, trial, record.closed.get(trial.trial_id), verdict, told)
        left = verdict.inputs.evaluation.batches if verdict.inputs and verdict.inputs.evaluation else 0
        with writer.member(trial_member(trial.trial_id, "reports.jsonl")) as write:
            async for batches in _batches(storage, trial.trace_id, left):
                await asyncio.to_thread(_write_lines, write, batches)


def _add_documents(
    writer: BundleWriter, trial: TrialSpec, closed: TrialOutcome | None, verdict: VerdictHead, conducted: str | None
) -> None:
    members: dict[TrialMember, str | None] = {
        "outcome.json": None if closed is None else closed.model_dump_json(),
        "inputs.json": None if verdict.inputs is None else verdict.inputs.model_dump_json(),
        "failure.json": verdict.failure.model_dump_json() if verdict.failure and verdict.record is None else None,
        "conducted.json": None if conducted is None else zlib.decompress(base64.b64decode(conducted)).decode(),
    }
    for name, content in members.items():
        if content is not None:
            writer.add(trial_member(trial.trial_id, name), redact(content))


async def _batches(storage: Storage, trace_id: str, left: int) -> AsyncIterator[list[ReportBatch]]:
    """The first `left` batches of a trace, which its row follows from, in groups of at least `_GROUP_BYTES`."""
    group, size = list[ReportBatch](), 0
    async for batch in storage.traces.batches(trace_id):
        if left <= 0:  # later batches have no part in the row
            break
        left -= 1
        group.append(batch)
        size += len(batch.body)
        if size >= _GROUP_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group


def _write_lines(write: Callable[[bytes], None], batches: Sequence[ReportBatch]) -> None:
    for batch in batches:
        write(redact(report_line(batch)))


def _finish(path: Path) -> str:
    """The SHA-256 of a written bundle. Removes the oldest others beyond the limit."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    kept = 0
    written = [(each.stat().st_mtime_ns, each.stat().st_size, each) for each in path.parent.glob("*.zip")]
    for _, size, each in sorted(written, reverse=True):
        kept += size
        if kept > MAX_KEPT_BYTES and each != path:
            each.unlink(missing_ok=True)
    return digest
