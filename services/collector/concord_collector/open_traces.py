"""Traces that belong to no trial: an open collector keeps their spans and exports them for evaluation."""

import json
from collections.abc import AsyncIterator
from typing import Annotated, Any, Final

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import StreamingResponse
from pydantic import BaseModel

from concord.errors import StorageUnavailableError
from concord.storage import AssessmentStore, OpenTrace, OpenTraceLimits, OpenTraces, TraceStore
from concord.trace.decoding import spans_in
from concord.trace.otlp import as_export
from concord.trace.report import Channel, unpack
from concord.trust.token_keys import Now
from concord_collector.batch_parsing import ParsedBatch
from concord_collector.http_errors import ERROR_RESPONSES, storage_unavailable

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
    """The traces, by their last spans; `now` is the time of all collectors (seconds since 1970)."""

    now: float
    traces: list[OpenTraceRecord]


class OpenCollection:
    """An index of the traces that belong to no trial. Deletes the oldest traces beyond the limits."""

    def __init__(
        self, index: OpenTraces, traces: TraceStore, assessments: AssessmentStore, limits: OpenTraceLimits, now: Now
    ) -> None:
        self._index = index
        self._now = now
        self._traces = traces
        self._assessments = assessments
        self._limits = limits

    async def note(self, batch: ParsedBatch) -> None:
        """Counts stored spans of traces that belong to no trial. Raises 503."""
        try:
            if await self._assessments.has_trial(batch.trace_id):
                return
            size, spans = len(batch.body), batch.n_steps
            gone = await self._index.add(
                batch.trace_id, batch.reporter, n_bytes=size, n_spans=spans, limits=self._limits
            )
            for trace_id in gone:
                await self._traces.delete(trace_id)
        except StorageUnavailableError as error:
            raise storage_unavailable() from error

    async def list(self, since: float) -> tuple[float, list[OpenTrace]]:
        """The time now, and the traces with spans since a time (seconds since 1970). Raises 503."""
        try:
            return await self._now(), await self._index.list(since)
        except StorageUnavailableError as error:
            raise storage_unavailable() from error

    async def has(self, trace_id: str) -> bool:
        """Whether a trace belongs to no trial. Raises 503."""
        try:
            return await self._index.contains(trace_id)
        except StorageUnavailableError as error:
            raise storage_unavailable() from error

    async def exports(self, trace_id: str) -> AsyncIterator[bytes]:
        """The spans of a trace as lines of OTLP/JSON."""
        async for batch in self._traces.batches(trace_id):
            if batch.channel is Channel.OTLP:
                yield json.dumps(as_export(spans_in(unpack(batch.body)))).encode() + b"\n"


def open_router(collection: OpenCollection) -> APIRouter:
    """The routes that list and export traces that belong to no trial."""
    router = APIRouter(tags=["open traces"], prefix="/open")
    unavailable: dict[int | str, dict[str, Any]] = {503: ERROR_RESPONSES[503]}

    @router.get("/traces", responses=unavailable)
    async def traces(since: Annotated[float, Query(ge=0)] = 0.0) -> OpenTraceList:
        """The traces that belong to no trial and got spans since a time (seconds since 1970)."""
        now, found = await collection.list(since)
        records = [
            OpenTraceRecord(
                trace_id=each.trace_id,
                first_s=each.first_s,
                last_s=each.last_s,
                spans=each.n_spans,
                services=list(each.services),
            )
            for each in found
        ]
        return OpenTraceList(now=now, traces=records)

    @router.get("/traces/{trace_id}", responses=unavailable | {404: {"description": "No such trace."}})
    async def spans(trace_id: str) -> StreamingResponse:
        """The spans of a trace that belongs to no trial, as lines of OTLP/JSON."""
        if not await collection.has(trace_id):
            raise HTTPException(404, "no trace of this id is kept without an assessment")
        return StreamingResponse(collection.exports(trace_id), media_type=_LINES)

    return router
