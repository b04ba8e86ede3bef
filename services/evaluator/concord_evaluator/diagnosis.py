"""The diagnosis of a recorded trace: the causes of its verdict, observations, and the order in which to read."""

from dataclasses import dataclass

from concord.assessment import AssessmentConfig
from concord.assessment.observations import Observation, ReadStep
from concord.assessment.verdict import Cause, CauseKind
from concord.wire.roster import Roster
from concord_evaluator.formats import Trace
from concord_evaluator.observations import acts_of, observe, reading_order, tied
from concord_evaluator.observations.reading import MAX_RANKED
from concord_evaluator.offline import evaluate_trace


@dataclass(frozen=True, slots=True)
class TraceDiagnosis:
    """What a trace shows of its failure. `outcome`: in [0, 1], None if nobody knows.

    `causes`: those of the trace's verdict. `reading`: all steps, only where no cause is shown,
    and not for a trace that is known to have succeeded.
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
    observations = observe(acts, trace.task)
    verdict = evaluate_trace(trace, AssessmentConfig()).detail.verdict
    outcome = trace.task_success
    if outcome is None and verdict is not None and verdict.score is not None:
        outcome = verdict.score.value / 100
    succeeded = outcome == 1
    told = [] if verdict is None else verdict.causes
    causes = [] if succeeded else [each for each in told if each.kind is not CauseKind.UNEXPLAINED]
    return TraceDiagnosis(
        trace_id=trace.trace_id,
        file=trace.origin.file,
        outcome=outcome,
        causes=causes,
        observations=tied(observations, causes),
        reading=[] if causes or succeeded else reading_order(acts, trace.task, observations, MAX_RANKED),
    )
