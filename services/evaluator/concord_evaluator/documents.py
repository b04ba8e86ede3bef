"""What is stored of a trial between the jobs: its evaluation, and then its verdict."""

from concord.assessment.jobs import TrialVerdict
from concord.assessment.results import (
    CallRecord,
    Finding,
    Grading,
    InfrastructureFailure,
    InteractionRecord,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    Record,
    StepCounts,
    TraceIntegrity,
    TrialOutcome,
)
from concord_evaluator.graph import CallTally
from concord_evaluator.latency import CalleeLatencies
from concord_evaluator.scoring import Conduct, TeamStructure


def evaluation_document(trial_id: str) -> str:
    """The name of the `TrialEvaluation` of a trial."""
    return f"evaluation:{trial_id}"


class AgentTally(Record):
    """The calls between agents that one agent of the graph took part in."""

    id: str
    calls_made: int
    calls_received: int
    errors_received: int


class TrialEvaluation(Record):
    """A trial as far as its trace tells, before it is judged. Null: that evaluator was not asked for.

    `grading`: what the task's scorer says, null where the task has none. `conduct`: null where the gateway carries no
    calls. `failure`: why there is nothing but these two.
    """

    outcome: TrialOutcome
    grading: Grading | None = None
    conduct: Conduct | None = None
    metrics: list[MetricRecord]
    findings: list[Finding]
    structure: TeamStructure | None
    calls: CallTally | None
    timeline: list[CallRecord]
    timeline_omitted: int
    latency: LatencySummary | None
    latencies: list[CalleeLatencies]
    agents: list[AgentTally]
    interactions: list[InteractionRecord]
    steps: StepCounts
    trace_integrity: TraceIntegrity
    coordination_status: MetricStatus = MetricStatus.OK
    failure: InfrastructureFailure | None = None
    warnings: list[str]


class JudgedTrial(TrialVerdict):
    """The verdict on a trial, with what its assessment's row is made from beside the record. Empty where it failed."""

    structure: TeamStructure | None = None
    latencies: tuple[CalleeLatencies, ...] = ()
    agents: tuple[AgentTally, ...] = ()
    warnings: tuple[str, ...] = ()
