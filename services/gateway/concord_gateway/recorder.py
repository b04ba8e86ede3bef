"""The gateway's own testimony: the calls it made or carried, and what came in band with their answers."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Final

from concord.assessment.roster import GREEN_AGENT
from concord.storage import TraceFullError, TraceLimits, TraceStore
from concord.trace.report import MAX_BATCH_STEPS, BatchReceipt, Channel, ReportBatch, StepBatch, n_nested, pack
from concord.trace.step import AgentInvocation, InteractionStep, ResponseTrace
from concord.trust.redaction import redact

logger = logging.getLogger(__name__)

_DROPPED_FOREIGN: Final = "foreign_trace"


class Recorder:
    """Collects steps of a trial, and writes them to its trace when asked to.

    Written straight to the store, not through the collector: what the gateway observed must not pass an endpoint at
    which others may claim to have observed it.
    """

    def __init__(self, traces: TraceStore, trace_id: str, limits: TraceLimits) -> None:
        self._traces = traces
        self._trace_id = trace_id
        self._limits = limits
        self._observed: list[InteractionStep] = []
        self._in_band: list[tuple[str, ResponseTrace]] = []

    def add(self, step: InteractionStep) -> None:
        """Takes a step that the gateway saw itself; what the callee of a call sent along is the callee's own report."""
        call = step.agent_call
        if call is None or call.response_trace is None:
            self._observed.append(step)
            return
        self._in_band.append((call.agent_name, call.response_trace))
        self._observed.append(_without_response(step, call))

    async def write(self) -> None:
        """Appends what was collected to the trace. Raises StorageUnavailableError; then it is kept for another try.

        What came in band counts as its sender's reports do, and beyond the limits is counted and not kept.
        """
        while self._observed:
            await self._append(GREEN_AGENT, Channel.OBSERVED, self._observed[:MAX_BATCH_STEPS], dropped=0)
            del self._observed[:MAX_BATCH_STEPS]
        while self._in_band:
            reporter, trace = self._in_band[0]
            own = [step for step in trace.steps if step.trace_id == self._trace_id]
            await self._append(reporter, Channel.IN_BAND, own, dropped=len(trace.steps) - len(own))
            del self._in_band[0]

    async def _append(self, reporter: str, channel: Channel, steps: Sequence[InteractionStep], *, dropped: int) -> None:
        counts = {_DROPPED_FOREIGN: dropped} if dropped else {}
        batch = StepBatch(trace_id=self._trace_id, reporter=reporter, steps=list(steps), dropped=counts)
        body = _written(batch)
        kept, answer = _stored(batch, channel, body), receipt(batch)
        quota = None if channel is Channel.OBSERVED else self._limits.quota(kept, answer, len(body))
        try:
            await self._traces.append(kept, answer, quota=quota)
        except TraceFullError as error:
            logger.warning("%d steps that came in band were not kept: %s", len(steps), error)


def stored(batch: StepBatch, channel: Channel) -> ReportBatch:
    """A batch that the gateway itself vouches for, as the trace store keeps it."""
    return _stored(batch, channel, _written(batch))


def _written(batch: StepBatch) -> bytes:
    return redact(batch.model_dump_json(exclude_none=True).encode())


def _stored(batch: StepBatch, channel: Channel, body: bytes) -> ReportBatch:
    return ReportBatch(
        batch_id=batch.batch_id,
        trace_id=batch.trace_id,
        reporter=batch.reporter,
        authenticated=True,
        channel=channel,
        received_at=datetime.now(UTC),
        n_steps=len(batch.steps),
        dropped=sum(batch.dropped.values()),
        body=pack(body),
        n_nested=n_nested(batch.steps),
    )


def receipt(batch: StepBatch) -> BatchReceipt:
    """The answer to a batch that was taken whole."""
    return BatchReceipt(accepted=len(batch.steps), rejected=[])


def _without_response(step: InteractionStep, call: AgentInvocation) -> InteractionStep:
    assert step.step_action is not None  # nosec B101  # noqa: S101 - the messenger's steps have the specification's form
    bare = call.model_copy(update={"response_trace": None})
    return step.model_copy(update={"step_action": step.step_action.model_copy(update={"agent_invocation": bare})})
