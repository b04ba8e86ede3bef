"""`POST /traces`: a batch of steps in, and an answer only after Redis has it."""

from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from concord.trace.report import BatchReceipt, Channel
from concord_collector.answers import REFUSALS
from concord_collector.intake import BadBatchError, take_in
from concord_collector.keeper import Keeper
from concord_collector.reception import Reception

_JSON: Final = "application/json"

# The body is read raw and validated in one go, since a body-model parameter would halve the rate; so the schemas that
# FastAPI would have found are named here, and the app adds them to its components.
_OPENAPI: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {_JSON: {"schema": {"$ref": "#/components/schemas/StepBatch"}}},
    }
}


def trace_routes(reception: Reception, keeper: Keeper) -> APIRouter:
    """The route for reports over HTTP."""
    router = APIRouter(tags=["traces"])

    @router.post("/traces", status_code=202, openapi_extra=_OPENAPI, response_model=BatchReceipt, responses=REFUSALS)
    async def post_traces(request: Request) -> Response:
        """Takes a batch. Sound steps are kept even where others are refused; the same batch again changes nothing."""
        received = await reception.receive(request, (_JSON,))
        try:
            intake = take_in(received.body)
        except BadBatchError as error:
            raise HTTPException(400, str(error)) from error
        packed = received.packed if intake.body == received.body else None
        receipt = await keeper.keep(received.caller, intake, Channel.HTTP, packed)
        return Response(receipt.model_dump_json(exclude_defaults=True), status_code=202, media_type=_JSON)

    return router
