"""`POST /traces`: a batch of steps in, and an answer only after Redis has it."""

from datetime import UTC, datetime
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request

from concord.reports import BatchReceipt, Channel, ReportBatch, pack
from concord.storage import StorageUnavailableError, TraceStore
from concord_collector.instruments import Instruments
from concord_collector.intake import BadBatchError, Intake, take_in

RETRY_AFTER_S: Final = 1

# The body is read raw and validated in one go, since a body-model parameter would halve the rate; so the schema that
# FastAPI would have found is named here, and the app adds it to its components.
_OPENAPI: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/StepBatch"}}},
    }
}


def trace_routes(traces: TraceStore, instruments: Instruments) -> APIRouter:
    """The route for reports over HTTP."""
    router = APIRouter(tags=["traces"])

    @router.post("/traces", status_code=202, openapi_extra=_OPENAPI)
    async def post_traces(request: Request) -> BatchReceipt:
        """Takes a batch. Sound steps are kept even where others are refused; the same batch again changes nothing."""
        with instruments.seconds.time():
            try:
                receipt = await _take(request, traces, instruments)
            except HTTPException as refusal:
                instruments.batches.labels(status=refusal.status_code).inc()
                raise
        instruments.batches.labels(status=202).inc()
        return receipt

    return router


async def _take(request: Request, traces: TraceStore, instruments: Instruments) -> BatchReceipt:
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send application/json")
    if request.headers.get("content-encoding", "identity") != "identity":
        raise HTTPException(415, "send the body without a content-encoding")
    body = await request.body()
    try:
        intake = take_in(body)
    except BadBatchError as error:
        raise HTTPException(400, str(error)) from error
    receipt = BatchReceipt(accepted=len(intake.batch.steps), duplicate=0, rejected=list(intake.rejected))
    try:
        first = await traces.append(_stored(intake), receipt)
    except StorageUnavailableError as error:
        raise HTTPException(503, "storage is away", {"Retry-After": str(RETRY_AFTER_S)}) from error
    _count(intake, instruments, duplicate=first is not None)
    return receipt if first is None else first


def _stored(intake: Intake) -> ReportBatch:
    batch = intake.batch
    return ReportBatch(
        batch_id=batch.batch_id,
        trace_id=batch.trace_id,
        reporter=batch.reporter,
        authenticated=False,
        channel=Channel.HTTP,
        received_at=datetime.now(UTC),
        n_steps=len(batch.steps),
        dropped=sum(batch.dropped.values()),
        body=pack(intake.body),
    )


def _count(intake: Intake, instruments: Instruments, *, duplicate: bool) -> None:
    taken = "duplicate" if duplicate else "accepted"
    instruments.steps.labels(outcome=taken).inc(len(intake.batch.steps))
    instruments.steps.labels(outcome="rejected").inc(len(intake.rejected))
    if not duplicate:
        instruments.bytes.inc(len(intake.body))
        instruments.dropped.inc(sum(intake.batch.dropped.values()))
