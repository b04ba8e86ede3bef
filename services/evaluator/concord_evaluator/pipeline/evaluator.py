"""The interface of evaluators: functions of a trial, with an id, a tier, dependencies and parameters."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from concord.assessment import AssessmentConfig
from concord.assessment.results import CallRecord, Finding, LatencySummary, MetricRecord, ParticipantObservability
from concord.trace.report import Report
from concord.wire.roster import Roster
from concord_evaluator.findings import Shape
from concord_evaluator.graph import CallTally
from concord_evaluator.latency import CalleeLatencies
from concord_evaluator.metrics import Parameter
from concord_evaluator.scoring import TeamStructure
from concord_evaluator.trace import Projection

Tier = Literal[1, 2, 3]
"""1: the structure of the graph; 2: latency and the judge; 3: evaluators that have no part in the score."""


@dataclass(frozen=True, slots=True)
class TrialInput:
    """What every evaluator sees of a trial.

    `task`: the text that the team was given, empty without one. `completed`: whether the team completed the task; None
    if nobody knows. `shape`: whose choice it was who exchanges messages with whom.
    `participants`: how much of each participant's calls could have been seen; empty where there was nothing to observe.
    `reports`: returns all reports, read anew at each call. That is costly for a long trace, so it is meant for
    evaluators that need more than the projection. `time_is_up`: whether to skip all optional work from now on.
    """

    projection: Projection
    roster: Roster
    config: AssessmentConfig
    task: str = ""
    completed: bool | None = None
    shape: Shape = Shape.CHOSEN
    participants: tuple[ParticipantObservability, ...] = ()
    reports: Callable[[], Iterable[Report]] = tuple
    time_is_up: Callable[[], bool] = lambda: False


@dataclass(frozen=True, slots=True)
class Contribution:
    """The contribution of one evaluator to a trial: metrics, findings and warnings, with ids of its own. The other
    fields are for the built-in evaluators, because the score and the row's own keys follow from them."""

    metrics: tuple[MetricRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    warnings: tuple[str, ...] = ()
    structure: TeamStructure | None = None
    call_tally: CallTally | None = None
    calls: tuple[CallRecord, ...] = ()
    latency: LatencySummary | None = None
    latencies: tuple[CalleeLatencies, ...] = ()


Evaluate = Callable[..., Contribution]
"""Gets the `TrialInput`, the contributions of the evaluators in `needs` by their ids, and each parameter by name."""


@dataclass(frozen=True, slots=True)
class Evaluator:
    """An evaluator. `needs`: ids of evaluators that run before it. `definitions`: of its metrics, by definition id."""

    id: str
    evaluate: Evaluate
    tier: Tier = 3
    needs: frozenset[str] = frozenset()
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    definitions: Mapping[str, str] = field(default_factory=dict)


def evaluator(
    evaluator_id: str,
    *,
    tier: Tier = 3,
    needs: Collection[str] = (),
    parameters: Mapping[str, Parameter] | None = None,
    definitions: Mapping[str, str] | None = None,
) -> Callable[[Evaluate], Evaluator]:
    """Makes an evaluator from a function."""

    def made(evaluate: Evaluate) -> Evaluator:
        return Evaluator(evaluator_id, evaluate, tier, frozenset(needs), parameters or {}, definitions or {})

    return made
