"""Writes the bundle of an assessment, from which its row can be computed again, and adds its digest to the row."""

import asyncio
import base64
import logging
import zlib
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from hashlib import file_digest
from pathlib import Path
from typing import BinaryIO, Final

from concord.assessment import AssessmentPlan, TrialSpec
from concord.assessment.jobs import ROW_INPUTS_DOCUMENT, TrialVerdict, conducted_document
from concord.assessment.result_row import ResultRow
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
from concord.trust.redaction import redact
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.bundle_access import BundleClient, keep_client

logger = logging.getLogger(__name__)

MAX_KEPT_BYTES: Final = 128 * 2**20
"""Bytes of all bundles in an output folder, which may be in memory. The gateway removes the oldest bundles."""

LIMIT_S: Final = 60.0
"""How long the row waits for its bundle."""


class _NoInputsError(Exception):
    """The evaluator stored no inputs of the row."""


async def write_bundle(
    storage: Storage, record: AssessmentRecord, request: str, row: ResultRow, output_dir: Path, client: BundleClient
) -> ResultRow:
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
    return row.model_copy(update={"detail": row.detail.model_copy(update={"bundle_sha256": digest})})


def _without(row: ResultRow, reason: str) -> ResultRow:
    logger.warning("the assessment has no bundle: %s", reason)
    warnings = [*row.detail.warnings, redact(f"This row cannot be computed again, for want of a bundle: {reason}.")]
    return row.model_copy(update={"detail": row.detail.model_copy(update={"warnings": warnings})})


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
    async with _replaced(path) as file:
        with BundleWriter(file) as writer:
            await asyncio.to_thread(writer.add, PLAN, plan.model_dump_json(by_alias=True))
            await asyncio.to_thread(writer.add, REQUEST, redact(request))
            await asyncio.to_thread(writer.add, ROW_INPUTS, redact(inputs))
            for trial in plan.trials:
                await _write_trial(storage, record, plan, trial, writer)
            await asyncio.to_thread(writer.close, assessment_id, plan.task_commitment)


@asynccontextmanager
async def _replaced(path: Path) -> AsyncIterator[BinaryIO]:
    """As `atomic_file`; a slow disk does not hold up the event loop. Only its owner can read the file: it has the
    secret of the tasks."""
    await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
    with ExitStack() as unless_written:
        file = unless_written.enter_context(atomic_file(path, 0o600))
        yield file
        await asyncio.to_thread(unless_written.pop_all().close)


async def _write_trial(
    storage: Storage, record: AssessmentRecord, plan: AssessmentPlan, trial: TrialSpec, writer: BundleWriter
) -> None:
    async def add(name: TrialMember, content: str) -> None:
        await asyncio.to_thread(writer.add, trial_member(trial.trial_id, name), redact(content))

    document = await TrialDocuments(storage.assessments).part(plan.assessment_id, trial.key, "verdict")
    verdict = TrialVerdict() if document is None else TrialVerdict.model_validate_json(document)
    if (closed := record.closed.get(trial.trial_id)) is not None:
        await add("outcome.json", closed.model_dump_json())
    if verdict.inputs is not None:
        await add("inputs.json", verdict.inputs.model_dump_json())
    if verdict.record is None and verdict.failure is not None:
        await add("failure.json", verdict.failure.model_dump_json())
    conducted = await storage.assessments.load(plan.assessment_id, conducted_document(trial.key))
    if conducted is not None:
        told = await asyncio.to_thread(lambda: zlib.decompress(base64.b64decode(conducted)).decode())
        await add("conducted.json", told)
    read = verdict.inputs.evaluation if verdict.inputs is not None else None
    left = 0 if read is None else read.batches
    with writer.member(trial_member(trial.trial_id, "reports.jsonl")) as write:
        async for batch in storage.traces.batches(trial.trace_id):
            if left <= 0:  # later batches have no part in the row
                break
            left -= 1
            line = await asyncio.to_thread(report_line, batch)
            await asyncio.to_thread(write, redact(line))


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
