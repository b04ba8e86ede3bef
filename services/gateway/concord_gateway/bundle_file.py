"""Writes the bundle of an assessment, from which its row can be computed again, and adds its digest to the row."""

import asyncio
import base64
import logging
import zlib
from hashlib import file_digest
from pathlib import Path
from typing import Final

from concord.assessment import AssessmentPlan, TrialSpec
from concord.assessment.jobs import ROW_INPUTS_DOCUMENT, TrialVerdict, conducted_document
from concord.assessment.result_row import ResultRow
from concord.bundle import (
    PLAN,
    REQUEST,
    ROW_INPUTS,
    BundleTooLargeError,
    BundleWriter,
    TrialMember,
    bundle_file,
    report_line,
    trial_member,
)
from concord.errors import StorageUnavailableError
from concord.files import atomic_file
from concord.storage import TrialDocuments
from concord.storage.connection import Storage
from concord.trust.redaction import redact
from concord_gateway.assessment_record import AssessmentRecord

logger = logging.getLogger(__name__)

MAX_KEPT_BYTES: Final = 128 * 2**20
"""Bytes of all bundles in an output folder, which may be in memory. The gateway removes the oldest bundles."""


class _NoInputsError(Exception):
    """The evaluator stored no inputs of the row."""


async def write_bundle(
    storage: Storage, record: AssessmentRecord, request: str, row: ResultRow, output_dir: Path
) -> ResultRow:
    """Writes `bundles/<assessment id>.zip`, which only its owner can read, and returns the row with its SHA-256.

    `request`: the text of the client's request. If no bundle can be written, the row has no digest, and the log has
    the reason.
    """
    path = bundle_file(output_dir, record.plan.assessment_id)
    try:
        await asyncio.to_thread(path.parent.mkdir, parents=True, exist_ok=True)
        await _write(storage, record, request, path)
        digest = await asyncio.to_thread(_finish, path)
    except (_NoInputsError, BundleTooLargeError, StorageUnavailableError, OSError, zlib.error) as error:
        logger.warning("the assessment has no bundle: %s", error)
        return row
    return row.model_copy(update={"detail": row.detail.model_copy(update={"bundle_sha256": digest})})


async def _write(storage: Storage, record: AssessmentRecord, request: str, path: Path) -> None:
    assessment_id = record.plan.assessment_id
    plan = await storage.assessments.plan(assessment_id)
    inputs = await storage.assessments.load(assessment_id, ROW_INPUTS_DOCUMENT)
    if plan is None or inputs is None:
        raise _NoInputsError("the evaluator stored no inputs of the row")
    with atomic_file(path, 0o600) as file:  # it has the secret of the tasks
        writer = BundleWriter(file)
        writer.add(PLAN, plan.model_dump_json(by_alias=True))
        writer.add(REQUEST, redact(request))
        writer.add(ROW_INPUTS, redact(inputs))
        for trial in plan.trials:
            await _write_trial(storage, record, plan, trial, writer)
        writer.close(assessment_id, plan.task_commitment)


async def _write_trial(
    storage: Storage, record: AssessmentRecord, plan: AssessmentPlan, trial: TrialSpec, writer: BundleWriter
) -> None:
    def add(name: TrialMember, content: str) -> None:
        writer.add(trial_member(trial.trial_id, name), redact(content))

    document = await TrialDocuments(storage.assessments).part(plan.assessment_id, trial.key, "verdict")
    verdict = TrialVerdict() if document is None else TrialVerdict.model_validate_json(document)
    if (closed := record.closed.get(trial.trial_id)) is not None:
        add("outcome.json", closed.model_dump_json())
    if verdict.inputs is not None:
        add("inputs.json", verdict.inputs.model_dump_json())
    if verdict.record is None and verdict.failure is not None:
        add("failure.json", verdict.failure.model_dump_json())
    conducted = await storage.assessments.load(plan.assessment_id, conducted_document(trial.key))
    if conducted is not None:
        add("conducted.json", await asyncio.to_thread(lambda: zlib.decompress(base64.b64decode(conducted)).decode()))
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
