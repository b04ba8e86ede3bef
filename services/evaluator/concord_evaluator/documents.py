"""The parts that the evaluator adds to the document of a trial: its evaluation and its verdict."""

from typing import Annotated, Final

from pydantic import Field, TypeAdapter

from concord.assessment.cost import ModelUse, TemporalNetwork
from concord.assessment.jobs import EvaluationInputs, TrialVerdict
from concord.assessment.observations import Observation, ReadStep
from concord.assessment.recorded_work import RecordedWork
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import (
    CallRecord,
    Finding,
    Grading,
    InteractionRecord,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    StepCounts,
    TraceIntegrity,
    TrialOutcome,
    TrialRecord,
)
from concord.assessment.table import Record, Table
from concord.assessment.team_results import TeamTaskRecord
from concord.assessment.verdict import Cause
from concord_evaluator.graph import CallTally
from concord_evaluator.latency import CalleeLatencies
from concord_evaluator.scoring import TeamStructure


class AgentTally(Record):
    """The numbers of calls that one agent of the graph made and received."""

    id: str
    calls_made: int
    calls_received: int
    errors_received: int


class TrialEvaluation(Record):
    """The evaluation of a trial from its trace, before judging. A null field: its evaluator was not chosen.

    `grading`: by the task's scorer, null without one. `causes`: of wrong answers to an own task; their points are of a
    trial that lost all 100. `observations`, `reading`: of a trial that may have failed. `failure`: the reason why the
    document has only the inputs of the score. `inputs`: null for a trace from a file.
    """

    outcome: TrialOutcome
    grading: Grading | None = None
    team_task: TeamTaskRecord | None = None
    causes: tuple[Cause, ...] = ()
    observations: tuple[Observation, ...] = ()
    reading: tuple[ReadStep, ...] = ()
    network: TemporalNetwork | None = None
    work: RecordedWork | None = None
    metrics: Table[MetricRecord] = Field(default_factory=list)
    findings: list[Finding] = Field(default_factory=list)
    structure: TeamStructure | None = None
    call_tally: CallTally | None = None
    calls: Table[CallRecord] = Field(default_factory=list)
    calls_omitted: int = 0
    latency: LatencySummary | None = None
    latencies: Table[CalleeLatencies] = Field(default_factory=list)
    agents: Table[AgentTally] = Field(default_factory=list)
    interactions: Table[InteractionRecord] = Field(default_factory=list)
    uses: tuple[ModelUse, ...] = ()
    steps: StepCounts = StepCounts()
    trace_integrity: TraceIntegrity = TraceIntegrity()
    coordination_status: MetricStatus = MetricStatus.OK
    failure: InfrastructureFailure | None = None
    warnings: list[str] = Field(default_factory=list)
    inputs: EvaluationInputs | None = None


class JudgedTrial(TrialVerdict):
    """The verdict on a trial that has a record, with the data that the row aggregates beside it."""

    record: TrialRecord
    structure: TeamStructure | None = None
    latencies: Table[CalleeLatencies] = Field(default_factory=list)
    agents: Table[AgentTally] = Field(default_factory=list)
    warnings: tuple[str, ...] = ()


VERDICT: Final[TypeAdapter[JudgedTrial | TrialVerdict]] = TypeAdapter(
    Annotated[JudgedTrial | TrialVerdict, Field(union_mode="left_to_right")]
)
"""Reads a verdict: a `JudgedTrial`, or a `TrialVerdict` without a record."""
