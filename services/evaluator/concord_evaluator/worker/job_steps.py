"""The evaluator's own work as steps of the trace: a job is a HOST step, a call to a language model a TOOL step."""

from collections.abc import Sequence

from concord.trace.report import SerialisedBatch, StepBatch
from concord.trace.step import InteractionStep
from concord.trace.timing import StepClock, root_step
from concord.wire.assignment import Assignment
from concord.wire.roster import GREEN_AGENT, MAX_ID_LENGTH


def job_batch(
    job: str, trial_id: str, root: Assignment, clock: StepClock, under: Sequence[InteractionStep] = ()
) -> SerialisedBatch:
    """The batch of a job's steps: the job as the HOST step `root.step_id`, and the steps below it.

    The batch id is derived from the job, so the store keeps only one batch if the job runs twice.
    """
    step = root_step(job, clock, step_id=root.step_id, trace_id=root.trace_id, attributes={"trial_id": trial_id})
    batch = StepBatch(
        batch_id=f"{job}:{root.trace_id}"[:MAX_ID_LENGTH],
        trace_id=root.trace_id,
        reporter=GREEN_AGENT,
        steps=[step, *under],
    )
    return SerialisedBatch.of(batch)
