"""`POST /v1/traces`: OTLP/HTTP, so that whatever exports OpenTelemetry reports without knowing of us."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Final

from fastapi import APIRouter, HTTPException, Request, Response

from concord.trace.otlp import Span, SpanError, read_json, to_step, without_internals
from concord.trace.report import MAX_BATCH_STEPS, Channel, StepBatch
from concord.trace.step import MAX_ID_LENGTH, InteractionStep
from concord.trust.tokens import Claims
from concord_collector.answers import REFUSALS
from concord_collector.intake import Intake, of_batch
from concord_collector.keeper import TRACE_FULL, Keeper
from concord_collector.otlp_form import read_protobuf, write_json, write_protobuf
from concord_collector.reception import Reception

UNNAMED_SERVICE: Final = "unknown_service"
"""What OpenTelemetry calls a service that does not say what it is called."""

_PROTOBUF: Final = "application/x-protobuf"
_JSON: Final = "application/json"
_READ: Final[dict[str, Callable[[bytes], Iterator[Span]]]] = {_PROTOBUF: read_protobuf, _JSON: read_json}
_WRITE: Final[dict[str, Callable[[int, str], bytes]]] = {_PROTOBUF: write_protobuf, _JSON: write_json}
_OPENAPI: Final[dict[str, Any]] = {
    "requestBody": {
        "required": True,
        "content": {
            _PROTOBUF: {"schema": {"type": "string", "format": "binary"}},
            _JSON: {"schema": {"type": "object", "title": "ExportTraceServiceRequest"}},
        },
    },
    "responses": {"200": {"content": {_PROTOBUF: {"schema": {"type": "string", "format": "binary"}}}}},
}


def otlp_routes(reception: Reception, keeper: Keeper) -> APIRouter:
    """The route for spans."""
    router = APIRouter(tags=["traces"])

    @router.post("/v1/traces", openapi_extra=_OPENAPI, responses=REFUSALS)
    async def post_spans(request: Request) -> Response:
        """Takes an export. Spans that can be no steps are counted in `partialSuccess`, with the first one's reason."""
        received = await reception.receive(request, tuple(_READ))
        try:
            spans = list(without_internals(_READ[received.content_type](received.body)))
        except ValueError as error:
            raise HTTPException(400, "no ExportTraceServiceRequest") from error
        export = read_export(spans, received.body, received.caller.claims)
        keeper.count_rejected(export.rejected - export.n_foreign, export.n_foreign)
        if spans and export.n_foreign == len(spans):
            raise HTTPException(403, "the token is for another trace")
        receipts = [await keeper.keep(received.caller, intake, Channel.OTLP) for intake in export.intakes]
        beyond = sum(len(receipt.rejected) for receipt in receipts)
        reason = export.reason or (TRACE_FULL if beyond else "")
        answer = _WRITE[received.content_type](export.rejected + beyond, reason)
        return Response(answer, media_type=received.content_type)

    return router


@dataclass(frozen=True, slots=True)
class Export:
    """What is kept of an export: batches by trace and service, and how many spans were refused, the first for what.

    `n_foreign`: of the refused, those of another trace than the token's.
    """

    intakes: Sequence[Intake]
    rejected: int
    reason: str
    n_foreign: int


def read_export(spans: Sequence[Span], body: bytes, claims: Claims | None) -> Export:
    """Sorts the spans of an export into batches. These are named after the body, so that a second sending is one.

    A token's are the spans of its trace alone. Without one, whoever reports is the service that the spans name.
    """
    groups: defaultdict[tuple[str, str], list[InteractionStep]] = defaultdict(list)
    reasons: list[str] = []
    foreign = 0
    for span in spans:
        if claims is not None and span.trace_id != claims.trace_id:
            foreign += 1
            reasons.append("the token is for another trace")
            continue
        reporter = claims.agent_id if claims is not None else span.service or UNNAMED_SERVICE
        try:
            if len(reporter) > MAX_ID_LENGTH:
                raise SpanError(f"service.name: longer than {MAX_ID_LENGTH} characters")
            groups[span.trace_id, reporter].append(to_step(span, agent_name=span.agent))
        except SpanError as error:
            reasons.append(str(error))
    name = blake2b(body, digest_size=16).hexdigest()
    intakes = [
        of_batch(StepBatch(batch_id=f"otlp-{name}-{part}", trace_id=trace_id, reporter=reporter, steps=steps))
        for (trace_id, reporter), all_steps in groups.items()
        for part, steps in enumerate(_parts(all_steps))
    ]
    return Export(intakes, len(reasons), reasons[0] if reasons else "", foreign)


def _parts(steps: list[InteractionStep]) -> Iterator[list[InteractionStep]]:
    for start in range(0, len(steps), MAX_BATCH_STEPS):
        yield steps[start : start + MAX_BATCH_STEPS]
