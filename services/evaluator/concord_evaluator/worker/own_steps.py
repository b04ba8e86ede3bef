"""The evaluator's own work as steps of the trace: a job is a HOST step, a call to a language model a TOOL step."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from concord.agent.assignment import Assignment
from concord.assessment.roster import GREEN_AGENT
from concord.trace.report import BatchReceipt, Channel, ReportBatch, StepBatch, pack
from concord.trace.step import CallType, InteractionStep, StepAction, ToolInvocation
from concord.trust.redaction import redact


@dataclass(frozen=True, slots=True)
class OwnReport:
    """A report as the trace store takes it. `seconds`: the duration of the work."""

    batch: ReportBatch
    receipt: BatchReceipt
    seconds: float


def own_report(
    work: str, trial_id: str, root: Assignment, started_at: datetime, under: Sequence[InteractionStep] = ()
) -> OwnReport:
    """Work on a trial that ends now, as the HOST step `root.step_id`, with the steps below it.

    The batch id is derived from the work, so the store keeps only one report if the job runs twice.
    """
    now = datetime.now(UTC)
    seconds = (now - started_at).total_seconds()
    step = InteractionStep(
        step_id=root.step_id,
        trace_id=root.trace_id,
        call_type=CallType.HOST,
        step_action=StepAction(tool_invocation=ToolInvocation(tool_name=work)),
        additional_attributes={"trial_id": trial_id},
        latency=max(0, round(seconds * 1000)),
        start_time=started_at,
        end_time=now,
    )
    batch = StepBatch(
        batch_id=f"{work}:{root.trace_id}"[:64],
        trace_id=root.trace_id,
        reporter=GREEN_AGENT,
        steps=[step, *under],
    )
    stored = ReportBatch(
        batch_id=batch.batch_id,
        trace_id=root.trace_id,
        reporter=GREEN_AGENT,
        authenticated=True,
        channel=Channel.OBSERVED,
        received_at=now,
        n_steps=len(batch.steps),
        dropped=0,
        body=pack(redact(batch.model_dump_json(exclude_none=True).encode())),
    )
    return OwnReport(stored, BatchReceipt(accepted=len(batch.steps), rejected=[]), seconds)
