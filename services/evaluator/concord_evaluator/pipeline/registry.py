"""The registry of evaluators: what one gets and gives, what it needs of others, and the order that follows."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Final

from concord.assessment import AssessmentConfig
from concord.identity import Roster
from concord.results import CallRecord, Finding, LatencySummary, MetricRecord
from concord_evaluator.graph import CallTally
from concord_evaluator.latency import CalleeLatencies
from concord_evaluator.scoring import TeamStructure
from concord_evaluator.trace import Projection


@dataclass(frozen=True, slots=True)
class TrialInput:
    """What every evaluator sees of a trial. `completed`: whether its task was."""

    projection: Projection
    roster: Roster
    config: AssessmentConfig
    completed: bool = True


@dataclass(frozen=True, slots=True)
class Contribution:
    """What one evaluator adds to the evaluation of a trial."""

    metrics: tuple[MetricRecord, ...] = ()
    findings: tuple[Finding, ...] = ()
    structure: TeamStructure | None = None
    calls: CallTally | None = None
    timeline: tuple[CallRecord, ...] = ()
    latency: LatencySummary | None = None
    latencies: tuple[CalleeLatencies, ...] = ()


Evaluate = Callable[[TrialInput, Mapping[str, Contribution]], Contribution]
"""Evaluates a trial. Gets what the evaluators that it needs contributed, by their ids."""


@dataclass(frozen=True, slots=True)
class _Evaluator:
    needs: frozenset[str]
    evaluate: Evaluate


JUDGE: Final = "judge"
"""The evaluator that sees what all others found: it waits for a model, and so runs in a job of its own after them."""

_EVALUATORS: Final[dict[str, _Evaluator]] = {}


def evaluator(evaluator_id: str, *, needs: Collection[str] = ()) -> Callable[[Evaluate], Evaluate]:
    """Registers a function as the evaluator `evaluator_id`, to be run after those it needs.

    Raises ValueError if the id is taken.
    """

    def register(evaluate: Evaluate) -> Evaluate:
        if evaluator_id in _EVALUATORS:
            raise ValueError(f"there are two evaluators called {evaluator_id!r}")
        _EVALUATORS[evaluator_id] = _Evaluator(frozenset(needs), evaluate)
        return evaluate

    return register


def evaluator_ids() -> list[str]:
    """The ids of all evaluators, sorted."""
    return sorted(_EVALUATORS)


def run_evaluators(trial: TrialInput, ids: Collection[str] | None = None) -> dict[str, Contribution]:
    """Runs the chosen evaluators (None: all) and those they need, each after its needs.

    Ids that nobody knows are ignored. Raises KeyError for a need that nobody fulfils, graphlib.CycleError for needs
    that go in a circle.
    """
    pending = set(_EVALUATORS if ids is None else ids) & set(_EVALUATORS)
    needs: dict[str, frozenset[str]] = {}
    while pending:
        evaluator_id = min(pending)
        needs[evaluator_id] = _EVALUATORS[evaluator_id].needs
        pending = (pending | needs[evaluator_id]) - needs.keys()
    done: dict[str, Contribution] = {}
    for evaluator_id in TopologicalSorter(dict(sorted(needs.items()))).static_order():
        needed = {need: done[need] for need in needs[evaluator_id]}
        done[evaluator_id] = _EVALUATORS[evaluator_id].evaluate(trial, needed)
    return done
