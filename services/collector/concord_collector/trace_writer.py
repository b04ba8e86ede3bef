"""Writes parsed batches into their traces, within the traces' quotas, under the reporter that the token proves."""

import logging
from typing import Final

import structlog
from fastapi import HTTPException
from isal import isal_zlib

from concord.errors import StorageUnavailableError
from concord.storage import TraceClosedError, TraceFullError, TraceLimits, TraceStore
from concord.trace.report import BatchReceipt, Channel, RejectedStep, ReportBatch
from concord.wire.roster import RESERVED_IDS
from concord_collector.authentication import Caller
from concord_collector.batch_parsing import ParsedBatch
from concord_collector.http_errors import storage_unavailable, trial_closed
from concord_collector.metrics import Metrics

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
        self, caller: Caller, batch: ParsedBatch, channel: Channel, gzipped: bytes | None = None
    ) -> BatchReceipt:
        """Stores a batch and returns its receipt; for a batch id seen before, the first receipt again.

        If the batch exceeds the trace's quota, every step is refused. That answer is final, and the trace counts the
        refused steps, so that no sender has to. `gzipped`: the batch's body as its sender compressed it.
        Raises 400, 403 and 503.
        """
        reporter = _reporter(caller, batch)
        receipt = BatchReceipt(accepted=batch.n_steps, rejected=list(batch.rejected))
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
            first = await self._append(report, receipt, len(batch.body))
        except TraceFullError:
            self._count_trace_full(batch)
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

    async def _append(self, report: ReportBatch, receipt: BatchReceipt, inflated: int) -> BatchReceipt | None:
        try:
            return await self._traces.append(report, receipt, quota=self._limits.quota(report, receipt, inflated))
        except TraceClosedError as error:
            raise trial_closed() from error
        except StorageUnavailableError as error:
            logger.warning("a batch could not be stored: %s", error)
            raise storage_unavailable() from error

    def _count_trace_full(self, batch: ParsedBatch) -> None:
        self._metrics.steps["rejected"].inc(batch.n_steps)
        self._metrics.rejected["trace_full"].inc(batch.n_steps)

    def _count(self, batch: ParsedBatch, report: ReportBatch, first: BatchReceipt | None) -> None:
        outcome = "accepted" if first is None else "late" if first.late else "duplicate"
        self._metrics.steps[outcome].inc(batch.n_steps)
        if first is None:
            self._metrics.bytes.inc(len(batch.body))
            self._metrics.stored_bytes.inc(len(report.body))
            self._metrics.dropped.inc(batch.dropped)


def _all_rejected(batch: ParsedBatch) -> BatchReceipt:
    invalid = {each.index: each for each in batch.rejected}
    rejected = [
        invalid.get(index) or RejectedStep(index=index, step_id=None, reason=TRACE_FULL)
        for index in range(batch.n_steps + len(invalid))
    ]
    return BatchReceipt(accepted=0, rejected=rejected)


def _reporter(caller: Caller, batch: ParsedBatch) -> str:
    """The agent that the token names, whatever the body says; without a token, the reporter that the body names."""
    if caller.claims is not None:
        if batch.trace_id != caller.claims.trace_id:
            raise HTTPException(403, "the token is for another trace")
        return caller.claims.agent_id
    if batch.reporter in RESERVED_IDS:
        raise HTTPException(400, f"reporter: {batch.reporter!r} is reserved")
    return batch.reporter
