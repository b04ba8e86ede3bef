"""The diagnosis of a recorded trace, without evaluating it: observations, causes, and the order in which to read."""

from dataclasses import dataclass

from concord.assessment.observations import Observation, ReadStep
from concord.assessment.verdict import Cause
from concord.wire.roster import Roster
from concord_evaluator.formats import Trace
from concord_evaluator.observations import acts_of, causes_of_parts, observe, reading_order, tied


@dataclass(frozen=True, slots=True)
class TraceDiagnosis:
    """What a trace shows of its failure. `outcome`: in [0, 1], None if nobody knows.

    `causes`: only where the trace's graders say which part was lost. `reading`: only where no cause is shown, and not
    for a trace that is known to have succeeded.
    """

    trace_id: str
    file: str
    outcome: float | None
    causes: list[Cause]
    observations: list[Observation]
    reading: list[ReadStep]


def diagnose(trace: Trace) -> TraceDiagnosis:
    """The diagnosis of a trace. Observations and reading order do not depend on its outcome and grades. Pure."""
    acts = acts_of(trace.reports(), Roster(trace.roster))
    observations = observe(acts)
    succeeded = trace.task_success == 1
    causes = [] if succeeded else causes_of_parts(observations, trace.parts)
    return TraceDiagnosis(
        trace_id=trace.trace_id,
        file=trace.origin.file,
        outcome=trace.task_success,
        causes=causes,
        observations=tied(observations, causes),
        reading=[] if causes or succeeded else reading_order(acts, trace.task, observations),
    )
