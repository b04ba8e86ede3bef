"""The bundles of assessments: written with the row, and served to the client whose assessment left each."""

import asyncio
import base64
import logging
import os
import re
import zlib
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from functools import partial
from hashlib import file_digest
from itertools import accumulate
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Request
from fastapi import Path as PathParameter
from pydantic import BaseModel, SecretStr, ValidationError
from starlette.responses import FileResponse, JSONResponse, Response

from concord.assessment import AssessmentPlan, TrialSpec
from concord.assessment.jobs import ROW_INPUTS_DOCUMENT, VerdictHead, conducted_document
from concord.assessment.results import TrialOutcome
from concord.bundle import PLAN, REQUEST, ROW_INPUTS, BundleWriter, TrialMember, bundle_file, report_line, trial_member
from concord.files import atomic_file, read_bounded
from concord.storage.connection import Storage
from concord.storage.trial_documents import TrialDocuments
from concord.trace.report import ReportBatch
from concord.trust.credentials import MIN_KEY_LENGTH, ApiKeys, owner_of, shows
from concord.trust.redaction import learn_secret, redact
from concord_gateway.assessment_record import AssessmentRecord
from concord_gateway.evaluation import MadeRow

# `/bundles/<SHA-256>`: a bundle for the client whose assessment left it, and for the holder of the gateway's key.

logger = logging.getLogger(__name__)

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_MAX_BYTES: Final = 4096


class BundleClient(BaseModel):
    """Whose bundle it is: the digest of the client's API key, or, if it showed none, of its task's id."""

    assessment_id: str
    owner: str = ""
    task: str = ""

    @classmethod
    def of(cls, assessment_id: str, owner: str, task_id: str) -> "BundleClient":
        """The client of a task. `owner`: of its API key, or empty."""
        return cls(assessment_id=assessment_id, owner=owner, task="" if owner else owner_of(task_id))


def keep_client(output_dir: Path, bundle_sha256: str, client: BundleClient, *, forget: bool) -> None:
    """Stores whose bundle it is. Raises OSError.

    `forget`: forgets the clients of deleted bundles, which takes the longer the more there are.
    """
    folder = output_dir / "bundle-clients"
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.json") if forget else ():
        known = _client(path)
        if known is None or not bundle_file(output_dir, known.assessment_id).exists():
            path.unlink(missing_ok=True)
    with atomic_file(folder / f"{bundle_sha256}.json", 0o600) as file:
        file.write(client.model_dump_json().encode())


def bundle_routes(output_dir: Path, keys: ApiKeys, bundle_key: SecretStr, *, shared_secret: bool) -> APIRouter:
    """The route. A caller that may not have a bundle gets 404, as for one that does not exist.

    `shared_secret`: whether assessments have a task secret in common. A client that saw the bundle of one would know
    the tasks of the next, so only the holder of `bundle_key` gets any. Raises ValueError if that key is too short.
    """
    key = bundle_key.get_secret_value()
    if key and len(key) < MIN_KEY_LENGTH:
        raise ValueError(f"the bundle key must have at least {MIN_KEY_LENGTH} characters")
    learn_secret(key)
    router = APIRouter(tags=["bundles"])

    def may_have(request: Request, client: BundleClient) -> bool:
        if key and shows(request.headers, owner_of(key)):
            return True
        if shared_secret:
            return False
        if client.owner:
            return keys.owner(request.headers) == client.owner
        return not keys and bool(client.task) and shows(request.headers, client.task)

    def found(request: Request, digest: str) -> Path | None:
        client = _client(output_dir / "bundle-clients" / f"{digest}.json") if _DIGEST.fullmatch(digest) else None
        if client is None or not may_have(request, client):
            return None
        path = bundle_file(output_dir, client.assessment_id)
        return path if path.is_file() else None

    @router.get("/bundles/{sha256}", response_class=FileResponse, responses={404: {"description": "no such bundle"}})
    async def bundle(
        request: Request, sha256: Annotated[str, PathParameter(description="`detail.bundle_sha256` of the row.")]
    ) -> Response:
        path = await asyncio.to_thread(found, request, sha256)
        if path is None:
            return JSONResponse({"detail": "no such bundle"}, 404)
        return FileResponse(path, media_type="application/zip", headers={"cache-control": "no-store"})

    return router


def _client(path: Path) -> BundleClient | None:
    try:
        return BundleClient.model_validate_json(read_bounded(path, _MAX_BYTES))
    except (OSError, ValidationError):
        return None


# Writes the bundle of an assessment, from which its row can be computed again, and adds its digest to the row.

MAX_KEPT_BYTES: Final = 128 * 2**20
"""Bytes of all bundles in an output folder, which may be in memory. The gateway removes the oldest bundles."""

LIMIT_S: Final = 60.0
"""How long the row waits for its bundle."""

_TOGETHER: Final = 20
"""Trials whose documents are read together."""


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
            digest = await asyncio.to_thread(_finish, path, output_dir, client)
    except TimeoutError:
        return _without(row, f"it was not written within {LIMIT_S:g} s")
    except Exception as error:  # the row is made, whatever its bundle's members or its disk are like
        return _without(row, _reason(error))
    return row.with_bundle(digest)


def _without(row: MadeRow, reason: str) -> MadeRow:
    logger.warning("the assessment has no bundle: %s", reason)
    return row.with_warning(redact(f"This row cannot be computed again, for want of a bundle: {reason}."))


def _reason(error: Exception) -> str:
    """Why there is no bundle, without the names of folders, which the client does not know."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error) or type(error).__name__


_Piece = tuple[str, Callable[[], str | bytes]]
"""The name of a member, and what makes a piece of it."""


class _File:
    """The bundle's file. Its methods wait for the disk, and so run in a thread."""

    def __init__(self, path: Path, unless_written: ExitStack) -> None:
        """`unless_written` removes the file when it is left with an error. Raises OSError.

        Only its owner can read the file: it has the secret of the tasks.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        file = unless_written.enter_context(atomic_file(path, 0o600))
        self._writer = unless_written.enter_context(BundleWriter(file))
        self._member = unless_written.enter_context(ExitStack())
        self._unless_written = unless_written
        self._name = ""
        self._write: Callable[[bytes], None]

    def write(self, pieces: Iterable[_Piece]) -> None:
        """Writes pieces; those of a member follow each other. Raises OSError, BundleTooLargeError."""
        for name, make in pieces:
            if name != self._name:
                self._member.close()
                self._write = self._member.enter_context(self._writer.member(name))
                self._name = name
            made = make()
            self._write(made if isinstance(made, bytes) else made.encode())

    def end(self, plan: AssessmentPlan) -> None:
        """Writes the manifest, after which the file is complete on the disk. Raises as `write`."""
        self._member.close()
        self._writer.close(plan.assessment_id, plan.task_commitment)
        self._unless_written.pop_all().close()


async def _write(storage: Storage, record: AssessmentRecord, request: str, path: Path) -> None:
    """Writes a bundle piece by piece. A slow disk does not hold up the event loop."""
    with ExitStack() as unless_written:
        file = await asyncio.to_thread(_File, path, unless_written)
        async for pieces in _pieces(storage, record, request):
            await asyncio.to_thread(file.write, pieces)
        await asyncio.to_thread(file.end, record.plan)


async def _pieces(storage: Storage, record: AssessmentRecord, request: str) -> AsyncIterator[list[_Piece]]:
    assessment_id = record.plan.assessment_id
    plan = await storage.assessments.plan(assessment_id)
    inputs = await storage.assessments.load(assessment_id, ROW_INPUTS_DOCUMENT)
    if plan is None or inputs is None:
        raise _NoInputsError("the evaluator stored no inputs of the row")
    yield [
        (PLAN, partial(plan.model_dump_json, by_alias=True)),
        (REQUEST, partial(redact, request)),
        (ROW_INPUTS, partial(redact, inputs)),
    ]
    for first in range(0, len(plan.trials), _TOGETHER):
        async for pieces in _pieces_of_trials(storage, record, plan.trials[first : first + _TOGETHER]):
            yield pieces


async def _pieces_of_trials(
    storage: Storage, record: AssessmentRecord, trials: Sequence[TrialSpec]
) -> AsyncIterator[list[_Piece]]:
    """The members of these trials. Each wait for storage takes long beside a busy assessment."""
    assessment_id, keys = record.plan.assessment_id, [trial.key for trial in trials]
    verdicts = await TrialDocuments(storage.assessments).parts(assessment_id, keys, "verdict")
    conducted = await storage.assessments.load_all(assessment_id, [conducted_document(key) for key in keys])
    for trial, document, told in zip(trials, verdicts, conducted, strict=True):
        verdict = VerdictHead() if document is None else VerdictHead.model_validate_json(document)
        reports = trial_member(trial.trial_id, "reports.jsonl")
        documents = _documents(trial, record.closed.get(trial.trial_id), verdict, told)
        yield [*documents, (reports, bytes)]  # a member, also without reports
        left = verdict.inputs.evaluation.batches if verdict.inputs and verdict.inputs.evaluation else 0
        async for batch in _batches(storage, trial.trace_id, left):
            yield [(reports, partial(_line, batch))]


def _documents(
    trial: TrialSpec, closed: TrialOutcome | None, verdict: VerdictHead, conducted: str | None
) -> Iterator[_Piece]:
    def piece(name: TrialMember, made: Callable[[], str]) -> _Piece:
        return trial_member(trial.trial_id, name), lambda: redact(made())

    if closed is not None:
        yield piece("outcome.json", closed.model_dump_json)
    if verdict.inputs is not None:
        yield piece("inputs.json", verdict.inputs.model_dump_json)
    if verdict.failure and verdict.record is None:
        yield piece("failure.json", verdict.failure.model_dump_json)
    if conducted is not None:
        yield piece("conducted.json", lambda: zlib.decompress(base64.b64decode(conducted)).decode())


def _line(batch: ReportBatch) -> bytes:
    return redact(report_line(batch))


async def _batches(storage: Storage, trace_id: str, left: int) -> AsyncIterator[ReportBatch]:
    """The first `left` batches of a trace, which its row follows from; later ones have no part in it."""
    if left > 0:
        async for batch in storage.traces.batches(trace_id):
            yield batch
            left -= 1
            if left <= 0:
                break


def _finish(path: Path, output_dir: Path, client: BundleClient) -> str:
    """The SHA-256 of a written bundle, whose client is kept. Removes the oldest others beyond the limit."""
    with path.open("rb") as file:
        digest = file_digest(file, "sha256").hexdigest()
    removed = _remove_oldest(path)
    try:
        keep_client(output_dir, digest, client, forget=removed)
    except OSError as error:
        logger.warning("the client cannot fetch its bundle: %s", error.strerror)
    return digest


def _remove_oldest(path: Path) -> bool:
    """Removes the oldest bundles beyond the limit, besides this one. Returns whether there were any."""
    files = files_by_age(path.parent, ".zip")
    kept = accumulate(size for _, size in files)
    beyond = [old for total, (old, _) in zip(kept, files, strict=True) if total > MAX_KEPT_BYTES and old != path]
    for old in beyond:
        old.unlink(missing_ok=True)
    return bool(beyond)


def files_by_age(folder: Path, suffix: str) -> list[tuple[Path, int]]:
    """The files of a folder with this suffix, and their sizes (bytes): the newest first. Raises OSError."""
    files: list[tuple[int, str, int]] = []
    with os.scandir(folder) as found:  # which may be thousands
        for each in found:
            if each.name.endswith(suffix):
                with suppress(FileNotFoundError):  # a concurrent assessment may have removed it
                    stat = each.stat()
                    files.append((stat.st_mtime_ns, each.name, stat.st_size))
    return [(folder / name, size) for _, name, size in sorted(files, reverse=True)]
