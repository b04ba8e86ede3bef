"""The recorder: writes the gateway's own steps to the trace, and the steps that arrive in band with answers."""

import logging
from collections.abc import Iterable, Sequence
from typing import Final
from uuid import uuid4

from concord.storage import TraceFullError, TraceLimits, TraceStore
from concord.trace.fast_steps import FastBatch, FastStep, serialised
from concord.trace.report import MAX_BATCH_STEPS, Channel, SerialisedBatch, StepBatch
from concord.trace.step import AgentInvocation, InteractionStep, ResponseTrace
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
        self._observed: list[InteractionStep] = []
        self._messages: list[FastStep] = []
        self._in_band: list[tuple[str, ResponseTrace]] = []

    def add(self, step: InteractionStep) -> None:
        """Adds a step that the gateway observed. Steps sent along by the callee are recorded as the callee's report."""
        call = step.agent_call
        if call is None or call.response_trace is None:
            self._observed.append(step)
            return
        self._in_band.append((call.agent_name, call.response_trace))
        self._observed.append(_without_response(step, call))

    def add_messages(self, steps: Iterable[FastStep]) -> None:
        """Adds the steps of messages that the gateway delivered itself, with their texts redacted."""
        self._messages += steps

    async def write(self) -> None:
        """Appends the collected steps to the trace. Raises StorageUnavailableError; the steps are then kept for a
        retry.

        Observed steps count against the limits of the trial, for which OverBudgetError is raised. In-band steps count
        against their sender's limits, like its reports; beyond the limits they are only counted.
        """
        while self._observed:
            await self._append(GREEN_AGENT, Channel.OBSERVED, self._observed[:MAX_BATCH_STEPS], dropped=0)
            del self._observed[:MAX_BATCH_STEPS]
        while self._messages:
            batch = FastBatch(uuid4().hex, self._trace_id, GREEN_AGENT, self._messages[:MAX_BATCH_STEPS])
            await self._store(serialised(batch, SerialisedBatch), Channel.OBSERVED)
            del self._messages[:MAX_BATCH_STEPS]
        while self._in_band:
            reporter, trace = self._in_band[0]
            own = [step for step in trace.steps if step.trace_id == self._trace_id]
            await self._append(reporter, Channel.IN_BAND, own, dropped=len(trace.steps) - len(own))
            del self._in_band[0]

    async def _append(self, reporter: str, channel: Channel, steps: Sequence[InteractionStep], *, dropped: int) -> None:
        counts = {_DROPPED_FOREIGN: dropped} if dropped else {}
        batch = StepBatch(trace_id=self._trace_id, reporter=reporter, steps=list(steps), dropped=counts)
        await self._store(SerialisedBatch.of(batch), channel)

    async def _store(self, batch: SerialisedBatch, channel: Channel) -> None:
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


def _without_response(step: InteractionStep, call: AgentInvocation) -> InteractionStep:
    assert step.step_action is not None  # nosec B101  # noqa: S101 - the messenger's steps have the specification's form
    bare = call.model_copy(update={"response_trace": None})
    return step.model_copy(update={"step_action": step.step_action.model_copy(update={"agent_invocation": bare})})
