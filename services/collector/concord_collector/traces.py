"""`POST /traces`: takes a batch of steps, and answers once Redis has stored it."""

import logging
import re
from typing import Annotated, Any, Final

import structlog
from fastapi import APIRouter, HTTPException, Request, Response
from isal import isal_zlib
from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord.files import first_fault
from concord.storage import TraceClosedError, TraceFullError, TraceLimits, TraceStore
from concord.trace.report import MAX_BATCH_STEPS, BatchReceipt, Channel, RejectedStep, ReportBatch, StepBatch
from concord.trace.step import InteractionStep
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch, read_usual
from concord.trust.redaction import redact
from concord.wire.roster import RESERVED_IDS
from concord_collector.admission import ERROR_RESPONSES, Admission, Caller, trial_closed
from concord_collector.metrics import Metrics

# Parses report batches: those of the usual form as a whole, and the others step by step. Pure.

_REASON_LENGTH: Final = 300
_STEP: Final[TypeAdapter[InteractionStep]] = TypeAdapter(InteractionStep)
_ESCAPES: Final = (rb"\u00", rb"\/")
_ESCAPED_ASCII: Final = re.compile(rb"\\(?:u00[2-7]|/)")
"""An escape that JSON does not need. It could hide a token from redaction, so such a body is serialised anew first."""


class BadBatchError(Exception):
    """The body is not a batch; the message says why."""


class _Envelope(StepBatch):
    steps: Annotated[list[JsonValue], Field(max_length=MAX_BATCH_STEPS, default_factory=list)]  # type: ignore[assignment]


def parse_batch(body: bytes) -> SerialisedBatch:
    """Parses a body. If every step is valid, the redacted bytes are kept as they are; else each step is checked alone.

    Raises BadBatchError if the body is not a batch.
    """
    body = redact(body)
    # Hardly any body has such an escape. A search for one byte is thirty times as fast as for two, and a substring
    # search ten times as fast as a regular expression.
    escaped = b"\\" in body and any(escape in body for escape in _ESCAPES)
    has_escapes = escaped and _ESCAPED_ASCII.search(body) is not None
    batch = None if has_escapes else read_usual(body)
    if batch is None or any(step.trace_id != batch.trace_id for step in batch.steps):
        return _step_by_step(body)
    return SerialisedBatch.of(batch, body)


def _step_by_step(body: bytes) -> SerialisedBatch:
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError as error:
        raise BadBatchError(_reason(error)) from error
    valid: list[Step] = []
    rejected: list[RejectedStep] = []
    n_foreign = 0
    for index, raw in enumerate(envelope.steps):
        try:
            step = _STEP.validate_python(raw)
        except ValidationError as error:
            rejected.append(RejectedStep(index=index, step_id=_id_of(raw), reason=_reason(error)))
            continue
        if step.trace_id == envelope.trace_id:
            valid.append(Step.of(step))
        else:
            n_foreign += 1
            reason = f"trace_id {step.trace_id!r} is not the batch's"
            rejected.append(RejectedStep(index=index, step_id=step.step_id, reason=reason))
    batch = TraceBatch(envelope.batch_id, envelope.trace_id, envelope.reporter, valid, envelope.dropped)
    return SerialisedBatch.of(batch, rejected=rejected, n_foreign=n_foreign)


def _id_of(raw: JsonValue) -> str | None:
    step_id = raw.get("step_id", raw.get("stepId")) if isinstance(raw, dict) else None
    return step_id[:64] if isinstance(step_id, str) else None


def _reason(error: ValidationError) -> str:
    return first_fault(error)[:_REASON_LENGTH]


# Writes parsed batches into their traces, within the traces' quotas, under the reporter that the token proves.

logger = logging.getLogger(__name__)

TRACE_FULL: Final = "the trace is full"
"""The reason with which a step beyond its trace's quota is refused."""

_LEVEL: Final = 1
"""Of ISA-L, which compresses at it as far as zlib does at its own, in a quarter of the time."""


class TraceWriter:
    """Stores batches. It returns a receipt only once storage has the batch."""

    def __init__(self, traces: TraceStore, metrics: Metrics, limits: TraceLimits) -> None:
        self._traces = traces
        self._metrics = metrics
        self._limits = limits

    async def write(
        self, caller: Caller, batch: SerialisedBatch, channel: Channel, gzipped: bytes | None = None
    ) -> BatchReceipt:
        """Stores a batch and returns its receipt; for a batch id seen before, the first receipt again.

        If the batch exceeds the trace's quota, every step is refused. That answer is final, and the trace counts the
        refused steps, so that no sender has to. `gzipped`: the batch's body as its sender compressed it.
        Raises 400 and 403, and StorageUnavailableError.
        """
        reporter = _reporter(caller, batch)
        receipt = batch.receipt()
        if batch.rejected:
            self.count_rejected(len(batch.rejected) - batch.n_foreign, batch.n_foreign)
        if not batch.n_steps and not batch.dropped:
            return receipt
        authenticated = caller.claims is not None
        structlog.contextvars.bind_contextvars(
            trace_id=batch.trace_id,
            batch_id=batch.batch_id,
            reporter=reporter,
            **({} if caller.claims is None else {"assessment_id": caller.claims.assessment_id}),
        )
        compressed = isal_zlib.compress(batch.body, _LEVEL) if gzipped is None else gzipped
        report = batch.received(channel, authenticated=authenticated, reporter=reporter, compressed=compressed)
        try:
            quota = self._limits.quota(report, receipt, len(batch.body))
            first = await self._traces.append(report, receipt, quota=quota)
        except TraceClosedError as error:
            raise trial_closed() from error
        except TraceFullError:
            self._metrics.steps["rejected"].inc(batch.n_steps)
            self._metrics.rejected["trace_full"].inc(batch.n_steps)
            logger.debug("refused %d steps: %s", batch.n_steps, TRACE_FULL)
            return _all_rejected(batch)
        self._count(batch, report, first)
        logger.debug("stored %d steps", batch.n_steps)
        return receipt if first is None else first

    def count_rejected(self, invalid: int, foreign: int) -> None:
        """Counts refused steps: those that are invalid, and those of another trace."""
        self._metrics.steps["rejected"].inc(invalid + foreign)
        self._metrics.rejected["invalid"].inc(invalid)
        self._metrics.rejected["foreign_trace"].inc(foreign)

    def count_cut(self, attributes: int) -> None:
        """Counts oversized attributes that were cut."""
        self._metrics.cut.inc(attributes)

    def _count(self, batch: SerialisedBatch, report: ReportBatch, first: BatchReceipt | None) -> None:
        outcome = "accepted" if first is None else "late" if first.late else "duplicate"
        self._metrics.steps[outcome].inc(batch.n_steps)
        if first is None:
            self._metrics.bytes.inc(len(batch.body))
            self._metrics.stored_bytes.inc(len(report.body))
            self._metrics.dropped.inc(batch.dropped)


def _all_rejected(batch: SerialisedBatch) -> BatchReceipt:
    invalid = {each.index: each for each in batch.rejected}
    rejected = [
        invalid.get(index) or RejectedStep(index=index, step_id=None, reason=TRACE_FULL)
        for index in range(batch.n_steps + len(invalid))
    ]
    return BatchReceipt(accepted=0, rejected=rejected)


def _reporter(caller: Caller, batch: SerialisedBatch) -> str:
    """The agent that the token names, whatever the body says; without a token, the reporter that the body names."""
    if caller.claims is not None:
        if batch.trace_id != caller.claims.trace_id:
            raise HTTPException(403, "the token is for another trace")
        return caller.claims.agent_id
    if batch.reporter in RESERVED_IDS:
        raise HTTPException(400, f"reporter: {batch.reporter!r} is reserved")
    return batch.reporter


_JSON: Final = "application/json"

# The endpoint reads the raw body and validates it in one go, since a body-model parameter would halve the rate. So the
# schemas that FastAPI would find are named here, and the app adds them to its components.
_OPENAPI: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/StepBatch"}}},
    }
}


def traces_router(admission: Admission, writer: TraceWriter, max_bytes: int) -> APIRouter:
    """The route for reports as JSON, of at most so many bytes decompressed."""
    router = APIRouter(tags=["traces"])

    @router.post(
        "/traces", status_code=202, openapi_extra=_OPENAPI, response_model=BatchReceipt, responses=ERROR_RESPONSES
    )
    async def post_traces(request: Request) -> Response:
        """Stores a batch. Valid steps are stored even if others are refused. The same batch again changes nothing."""
        admitted = await admission.admit(request, (_JSON,), max_bytes)
        try:
            batch = parse_batch(admitted.body)
        except BadBatchError as error:
            raise HTTPException(400, str(error)) from error
        gzipped = admitted.gzipped if batch.body == admitted.body else None
        receipt = await writer.write(admitted.caller, batch, Channel.HTTP, gzipped)
        return Response(receipt.model_dump_json(exclude_defaults=True), status_code=202, media_type=_JSON)

    return router
