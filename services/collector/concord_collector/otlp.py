"""`POST /v1/traces`: OTLP/HTTP, for agents that export OpenTelemetry spans, in trials and in open traces."""

import json
from collections import defaultdict
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from hashlib import blake2b
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query, Request, Response
from fastapi.responses import StreamingResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)
from pydantic import BaseModel

from concord.storage import AssessmentStore, OpenTraceLimits, OpenTraces, TraceStore
from concord.trace.decoding import spans_in
from concord.trace.otlp import Span, SpanError, as_export, read_json, shortened, storable, without_internals
from concord.trace.otlp.protobuf_form import read_protobuf
from concord.trace.otlp.span_batch import MAX_SPANS, SpanBatch, encoded_spans, with_ids_alone
from concord.trace.report import Channel, unpack
from concord.trace.stored_step import SerialisedBatch
from concord.trust.redaction import redact
from concord.trust.tokens import Claims, Now
from concord.wire.roster import MAX_ID_LENGTH
from concord_collector.admission import ERROR_RESPONSES, Admission
from concord_collector.metrics import Metrics
from concord_collector.traces import TRACE_FULL, TraceWriter

# The collector's answers to OTLP/HTTP, in both encodings. (`concord.trace.otlp` reads the exports.)


def write_protobuf(rejected: int, reason: str) -> bytes:
    """An `ExportTraceServiceResponse`; with a reason, a partial success: of `rejected` spans, or 0 for a warning."""
    response = ExportTraceServiceResponse()
    if reason:
        response.partial_success.CopyFrom(ExportTracePartialSuccess(rejected_spans=rejected, error_message=reason))
    return response.SerializeToString()


def write_json(rejected: int, reason: str) -> bytes:
    """The same in JSON, where 64-bit numbers are strings."""
    partial = {"partialSuccess": {"rejectedSpans": str(rejected), "errorMessage": reason}} if reason else {}
    return json.dumps(partial).encode()


# Traces that belong to no trial: an open collector keeps their spans and exports them for evaluation.

_LINES: Final = "application/x-ndjson"


class OpenTraceRecord(BaseModel):
    """A trace that belongs to no trial: the arrival of its first and last spans (seconds since 1970), the number of its
    spans, and its services."""

    trace_id: str
    first_s: float
    last_s: float
    spans: int
    services: list[str]


class OpenTraceList(BaseModel):
    """The traces, by their last spans; `now` is the time of all collectors (seconds since 1970).

    `refused`: what this collector has refused or cut since its start, by what it is.
    """

    now: float
    refused: dict[str, int]
    traces: list[OpenTraceRecord]


@dataclass(frozen=True, slots=True)
class OpenCollection:
    """An index of the traces that belong to no trial. Deletes the oldest traces beyond the limits.

    Its methods raise StorageUnavailableError.
    """

    index: OpenTraces
    traces: TraceStore
    assessments: AssessmentStore
    limits: OpenTraceLimits
    now: Now

    async def note(self, batch: SerialisedBatch) -> None:
        """Counts stored spans of traces that belong to no trial."""
        if await self.assessments.has_trial(batch.trace_id):
            return
        gone = await self.index.add(
            batch.trace_id, batch.reporter, n_bytes=len(batch.body), n_spans=batch.n_steps, limits=self.limits
        )
        for trace_id in gone:
            await self.traces.delete(trace_id)

    async def exports(self, trace_id: str) -> AsyncIterator[bytes]:
        """The spans of a trace as lines of OTLP/JSON."""
        async for batch in self.traces.batches(trace_id):
            if batch.channel is Channel.OTLP:
                yield json.dumps(as_export(spans_in(unpack(batch.body)))).encode() + b"\n"


def open_router(collection: OpenCollection, metrics: Metrics) -> APIRouter:
    """The routes that list and export traces that belong to no trial."""
    router = APIRouter(tags=["open traces"], prefix="/open")
    unavailable: dict[int | str, dict[str, Any]] = {503: ERROR_RESPONSES[503]}

    @router.get("/traces", responses=unavailable)
    async def traces(since: Annotated[float, Query(ge=0)] = 0.0) -> OpenTraceList:
        """The traces that belong to no trial and got spans since a time (seconds since 1970)."""
        now = await collection.now()  # before the list: the next one, since then, has what comes in between
        records = [
            OpenTraceRecord(
                trace_id=each.trace_id,
                first_s=each.first_s,
                last_s=each.last_s,
                spans=each.n_spans,
                services=list(each.services),
            )
            for each in await collection.index.list(since)
        ]
        return OpenTraceList(now=now, traces=records, refused=metrics.refusals())

    @router.get("/traces/{trace_id}", responses=unavailable | {404: {"description": "No such trace."}})
    async def spans(trace_id: str) -> StreamingResponse:
        """The spans of a trace that belongs to no trial, as lines of OTLP/JSON."""
        if not await collection.index.contains(trace_id):
            raise HTTPException(404, "no trace of this id is kept without an assessment")
        return StreamingResponse(collection.exports(trace_id), media_type=_LINES)

    return router


# The endpoint.

UNNAMED_SERVICE: Final = "unknown_service"
"""OpenTelemetry's default for `service.name`."""

_PROTOBUF: Final = "application/x-protobuf"
_JSON: Final = "application/json"
_READ: Final[dict[str, Callable[[bytes], Sequence[Span]]]] = {_PROTOBUF: read_protobuf, _JSON: read_json}
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


def otlp_router(
    admission: Admission, writer: TraceWriter, max_bytes: int, open_traces: OpenCollection | None = None
) -> APIRouter:
    """The route for OpenTelemetry spans, of at most so many bytes decompressed.

    `open_traces`: keeps spans that belong to no trial, in an open collector.
    """
    router = APIRouter(tags=["traces"])

    @router.post("/v1/traces", openapi_extra=_OPENAPI, responses=ERROR_RESPONSES)
    async def post_spans(request: Request) -> Response:
        """Stores an export. `partialSuccess` counts the spans that cannot be steps, with the first one's reason."""
        admitted = await admission.admit(request, tuple(_READ), max_bytes)
        try:
            spans = _READ[admitted.content_type](admitted.body)
        except ValueError as error:
            raise HTTPException(400, "the body is not an ExportTraceServiceRequest") from error
        export = read_export(spans, admitted.body, admitted.caller.claims)
        writer.count_rejected(export.rejected - export.n_foreign, export.n_foreign)
        writer.count_cut(export.cut)
        if spans and not export.batches and export.n_foreign == export.rejected > 0:
            raise HTTPException(403, "the token is for another trace")
        receipts = [await writer.write(admitted.caller, batch, Channel.OTLP) for batch in export.batches]
        if open_traces is not None and admitted.caller.claims is None:
            for batch, receipt in zip(export.batches, receipts, strict=True):
                if receipt.accepted:
                    await open_traces.note(batch)
        over_quota = sum(len(receipt.rejected) for receipt in receipts)
        warning = f"oversized attributes, cut: {export.cut}" if export.cut else ""
        reason = export.reason or (TRACE_FULL if over_quota else warning)
        body = _WRITE[admitted.content_type](export.rejected + over_quota, reason)
        return Response(body, media_type=admitted.content_type)

    return router


@dataclass(frozen=True, slots=True)
class Export:
    """The batches of an export, one or more for each trace and service, and its refused spans.

    `rejected`: how many spans were refused; `reason`: why the first of them was; `n_foreign`: how many of them are of
    another trace than the token's. `cut`: how many attributes were too long, and are cut.
    """

    batches: Sequence[SerialisedBatch]
    rejected: int
    reason: str
    n_foreign: int
    cut: int


def read_export(spans: Sequence[Span], body: bytes, claims: Claims | None) -> Export:
    """Sorts the spans of an export into batches. Batch ids derive from the body, so that a retry is a duplicate.

    With a token, spans of other traces are refused. Without one, the reporter is the service that a span names.
    """
    groups: defaultdict[_Group, list[Span]] = defaultdict(list)
    reasons: list[str] = []
    foreign = cut = 0
    inner = [span for span in spans if span.internal]
    for span in without_internals(spans) if inner else spans:
        if claims is not None and span.trace_id != claims.trace_id:
            foreign += 1
            reasons.append("the token is for another trace")
            continue
        try:
            short, n_cut = shortened(span)
            groups[_group(span, claims)].append(storable(short))
            cut += n_cut
        except SpanError as error:
            reasons.append(str(error))
    batches = list(_batches(groups, _internals(inner, claims), blake2b(body, digest_size=16).hexdigest()))
    return Export(batches, len(reasons), reasons[0] if reasons else "", foreign, cut)


_Group = tuple[str, str]
"""The trace and the reporter of a batch."""


def _group(span: Span, claims: Claims | None) -> _Group:
    """Raises SpanError for a reporter whose name is too long."""
    reporter = claims.agent_id if claims is not None else span.service or UNNAMED_SERVICE
    if len(reporter) > MAX_ID_LENGTH:
        raise SpanError(f"service.name: longer than {MAX_ID_LENGTH} characters")
    return span.trace_id, reporter


def _internals(inner: Iterable[Span], claims: Claims | None) -> defaultdict[_Group, list[Span]]:
    """The library internals of each batch. Those that cannot be stored are left out: nobody misses them."""
    groups: defaultdict[_Group, list[Span]] = defaultdict(list)
    for span in inner:
        if claims is None or span.trace_id == claims.trace_id:
            with suppress(SpanError):
                found = groups[_group(span, claims)]
                found.append(with_ids_alone(storable(span)) if found else storable(span))
    return groups


def _batches(
    groups: Mapping[_Group, list[Span]], internals: Mapping[_Group, list[Span]], digest: str
) -> Iterator[SerialisedBatch]:
    for group in dict.fromkeys((*groups, *internals)):
        spans, inner = groups.get(group, []), internals.get(group, [])
        for number, start in enumerate(range(0, max(len(spans), bool(inner)), MAX_SPANS)):
            chunk = spans[start : start + MAX_SPANS]
            yield _serialised(SpanBatch(f"otlp-{digest}-{number}", *group, chunk, [] if start else inner))


def _serialised(batch: SpanBatch) -> SerialisedBatch:
    """The batch as it is stored, with its secrets redacted."""
    body = redact(encoded_spans(batch))
    return SerialisedBatch(batch.batch_id, batch.trace_id, batch.reporter, batch.n_steps, dropped=0, body=body)
