"""`POST /traces`: takes a batch of steps, and answers once Redis has stored it."""

from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from concord.trace.report import BatchReceipt, Channel
from concord_collector.admission import Admission
from concord_collector.batch_parsing import BadBatchError, parse_batch
from concord_collector.http_errors import ERROR_RESPONSES
from concord_collector.trace_writer import TraceWriter

_JSON: Final = "application/json"

# The endpoint reads the raw body and validates it in one go, since a body-model parameter would halve the rate. So the
# schemas that FastAPI would find are named here, and the app adds them to its components.
_OPENAPI: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/StepBatch"}}},
    }
}


def traces_router(admission: Admission, writer: TraceWriter) -> APIRouter:
    """The route for reports as JSON."""
    router = APIRouter(tags=["traces"])

    @router.post(
        "/traces", status_code=202, openapi_extra=_OPENAPI, response_model=BatchReceipt, responses=ERROR_RESPONSES
    )
    async def post_traces(request: Request) -> Response:
        """Stores a batch. Valid steps are stored even if others are refused. The same batch again changes nothing."""
        admitted = await admission.admit(request, (_JSON,))
        try:
            batch = parse_batch(admitted.body)
        except BadBatchError as error:
            raise HTTPException(400, str(error)) from error
        gzipped = admitted.gzipped if batch.body == admitted.body else None
        receipt = await writer.write(admitted.caller, batch, Channel.HTTP, gzipped)
        return Response(receipt.model_dump_json(exclude_defaults=True), status_code=202, media_type=_JSON)

    return router
