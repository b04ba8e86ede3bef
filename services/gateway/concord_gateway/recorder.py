"""The recorder: writes the gateway's own steps to the trace, and the steps that arrive in band with answers."""

import logging
from collections.abc import Iterable
from typing import Final
from uuid import uuid4

from concord.storage import TraceFullError, TraceLimits, TraceStore
from concord.trace.report import MAX_BATCH_STEPS, Channel
from concord.trace.step import InteractionStep
from concord.trace.stored_step import SerialisedBatch, Step, TraceBatch
from concord.wire.roster import GREEN_AGENT
from concord_gateway.rounds.exchange import OverBudgetError

logger = logging.getLogger(__name__)

_DROPPED_FOREIGN: Final = "foreign_trace"


class Recorder:
    """Collects a trial's steps, and writes them to its trace on request. Writes bypass the collector, because
    participants can reach its endpoint: only the gateway can record a step as observed."""

    def __init__(self, traces: TraceStore, trace_id: str, limits: TraceLimits) -> None:
        self._traces = traces
        self._trace_id = trace_id
        self._limits = limits
        self._observed: list[Step] = []
        self._in_band: list[tuple[str, list[Step]]] = []

    def add(self, step: InteractionStep) -> None:
        """Adds a step that the gateway observed. Steps sent along by the callee are recorded as the callee's report."""
        observed = Step.of(step)
        call = observed.agent_call
        if call is not None and call.response_trace is not None:
            self._in_band.append((call.agent_name, call.response_trace.steps))
            call.response_trace = None
        self._observed.append(observed)

    def add_messages(self, steps: Iterable[Step]) -> None:
        """Adds the steps of messages that the gateway delivered itself, with their texts redacted."""
        self._observed += steps

    async def write(self) -> None:
        """Appends the collected steps to the trace. Raises StorageUnavailableError; the steps are then kept for a
        retry.

        Observed steps count against the limits of the trial, for which OverBudgetError is raised. In-band steps count
        against their sender's limits, like its reports; beyond the limits they are only counted.
        """
        while self._observed:
            await self._append(GREEN_AGENT, Channel.OBSERVED, self._observed[:MAX_BATCH_STEPS])
            del self._observed[:MAX_BATCH_STEPS]
        while self._in_band:
            reporter, steps = self._in_band[0]
            own = [step for step in steps if step.trace_id == self._trace_id]
            await self._append(reporter, Channel.IN_BAND, own, dropped=len(steps) - len(own))
            del self._in_band[0]

    async def _append(self, reporter: str, channel: Channel, steps: list[Step], *, dropped: int = 0) -> None:
        counts = {_DROPPED_FOREIGN: dropped} if dropped else {}
        batch = SerialisedBatch.of(TraceBatch(uuid4().hex, self._trace_id, reporter, steps, counts))
        kept, answer = batch.received(channel, authenticated=True), batch.receipt()
        quota = self._limits.quota(kept, answer, len(batch.body))
        try:
            await self._traces.append(kept, answer, quota=quota)
        except TraceFullError as error:
            if channel is Channel.OBSERVED:
                raise OverBudgetError(
                    f"what the gateway observed exceeds a trial's budget of {quota.max_steps} calls or "
                    f"{quota.limit / 2**20:g} MiB"
                ) from error
            logger.warning("%d in-band steps were not stored: %s", batch.n_steps, error)
