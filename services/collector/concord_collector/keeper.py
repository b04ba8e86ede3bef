"""The keeper: puts what was taken in into its trace, under the name of who proved to have sent it."""

from datetime import UTC, datetime
from typing import Final

from fastapi import HTTPException

from concord.assessment.roster import RESERVED_IDS
from concord.storage import StorageUnavailableError, TraceClosedError, TraceFullError, TraceLimits, TraceStore
from concord.trace.report import BatchReceipt, Channel, RejectedStep, ReportBatch, pack
from concord_collector.answers import storage_is_away, trial_is_closed
from concord_collector.callers import Caller
from concord_collector.instruments import Instruments
from concord_collector.intake import Intake

TRACE_FULL: Final = "the trace is full"
"""Why a step was refused that its trace had no more room for."""


class Keeper:
    """Stores intakes. An answer is given only after storage has the batch."""

    def __init__(self, traces: TraceStore, instruments: Instruments, limits: TraceLimits) -> None:
        self._traces = traces
        self._instruments = instruments
        self._limits = limits

    async def keep(self, caller: Caller, intake: Intake, channel: Channel, packed: bytes | None = None) -> BatchReceipt:
        """Stores a batch and returns its receipt: for a batch id seen before, the first one again.

        Where the trace has no room for it, every step is refused: the answer is final, and the trace counts them, so
        that no sender has to. `packed`: the intake's body as its sender compressed it. Raises 400, 403 and 503.
        """
        reporter = _reporter(caller, intake)
        receipt = BatchReceipt(accepted=intake.n_steps, rejected=list(intake.rejected))
        if intake.rejected:
            self.count_rejected(len(intake.rejected) - intake.n_foreign, intake.n_foreign)
        if not intake.n_steps and not intake.dropped:
            return receipt
        batch = ReportBatch(
            batch_id=intake.batch_id,
            trace_id=intake.trace_id,
            reporter=reporter,
            authenticated=caller.claims is not None,
            channel=channel,
            received_at=datetime.now(UTC),
            n_steps=intake.n_steps,
            dropped=intake.dropped,
            body=packed if packed is not None else pack(intake.body),
            n_nested=intake.n_nested,
        )
        try:
            first = await self._append(batch, receipt, len(intake.body))
        except TraceFullError:
            self._count_beyond(intake)
            return _all_refused(intake)
        self._count(intake, batch, first)
        return receipt if first is None else first

    def count_rejected(self, invalid: int, foreign: int) -> None:
        """Counts what is not kept: what can be no step, and what is of another trace."""
        self._instruments.steps.labels(outcome="rejected").inc(invalid + foreign)
        self._instruments.rejected.labels(reason="invalid").inc(invalid)
        self._instruments.rejected.labels(reason="foreign_trace").inc(foreign)

    async def _append(self, batch: ReportBatch, receipt: BatchReceipt, inflated: int) -> BatchReceipt | None:
        try:
            return await self._traces.append(batch, receipt, quota=self._limits.quota(batch, receipt, inflated))
        except TraceClosedError as error:
            raise trial_is_closed() from error
        except StorageUnavailableError as error:
            raise storage_is_away() from error

    def _count_beyond(self, intake: Intake) -> None:
        self._instruments.steps.labels(outcome="rejected").inc(intake.n_steps)
        self._instruments.rejected.labels(reason="trace_full").inc(intake.n_steps)

    def _count(self, intake: Intake, batch: ReportBatch, first: BatchReceipt | None) -> None:
        outcome = "accepted" if first is None else "late" if first.late else "duplicate"
        self._instruments.steps.labels(outcome=outcome).inc(intake.n_steps)
        if first is None:
            self._instruments.bytes.inc(len(intake.body))
            self._instruments.stored_bytes.inc(len(batch.body))
            self._instruments.dropped.inc(intake.dropped)


def _all_refused(intake: Intake) -> BatchReceipt:
    told = {each.index: each for each in intake.rejected}
    rejected = [
        told.get(index) or RejectedStep(index=index, step_id=None, reason=TRACE_FULL)
        for index in range(intake.n_steps + len(told))
    ]
    return BatchReceipt(accepted=0, rejected=rejected)


def _reporter(caller: Caller, intake: Intake) -> str:
    """Who reports: whom the token names, whatever the body says; without a token, the body's word, marked so."""
    if caller.claims is not None:
        if intake.trace_id != caller.claims.trace_id:
            raise HTTPException(403, "the token is for another trace")
        return caller.claims.agent_id
    if intake.reporter in RESERVED_IDS:
        raise HTTPException(400, f"reporter: {intake.reporter!r} is reserved")
    return intake.reporter
