"""The trials of an assessment that were evaluated, in the order of its plan."""

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import fmean

from concord.assessment import AssessmentPlan
from concord.assessment.results import TrialRecord
from concord_evaluator.documents import AgentTally, JudgedTrial
from concord_evaluator.latency import CalleeLatencies
from concord_evaluator.scoring import TeamStructure


@dataclass(frozen=True, slots=True)
class EvaluatedTrial:
    """A trial's record, and the data that the row aggregates beside it."""

    record: TrialRecord
    structure: TeamStructure | None
    latencies: tuple[CalleeLatencies, ...]
    agents: tuple[AgentTally, ...]
    warnings: tuple[str, ...]


def evaluated_trials(plan: AssessmentPlan, verdicts: Iterable[JudgedTrial]) -> list[EvaluatedTrial]:
    """The trials that have a record, in the order of the plan."""
    by_id = {
        verdict.record.trial_id: EvaluatedTrial(
            verdict.record, verdict.structure, verdict.latencies, verdict.agents, verdict.warnings
        )
        for verdict in verdicts
        if verdict.record is not None
    }
    return [by_id[trial.trial_id] for trial in plan.trials if trial.trial_id in by_id]


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the values that are not None. None without any."""
    known = [value for value in values if value is not None]
    return fmean(known) if known else None
