"""Running evaluators: the chosen ones and their dependencies, in topological order."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from graphlib import TopologicalSorter

from concord_evaluator.metrics import LEFT_OUT, parameter_error
from concord_evaluator.pipeline.evaluator import Contribution, Evaluator, TrialInput

Choice = Mapping[str, Mapping[str, float]]
"""The ids of evaluators, each with the parameters that differ from their defaults."""


def run_evaluators(
    evaluators: Mapping[str, Evaluator], trial: TrialInput, choice: Choice | None = None
) -> dict[str, Contribution]:
    """Runs the chosen evaluators (None: all) and their dependencies, each after its dependencies.

    Unknown ids are ignored. An evaluator of tier 3 that fails, or that comes when time is up, contributes only a
    warning. Errors of the other tiers are raised, because the score depends on them. Raises KeyError and CycleError as
    `in_order` does.
    """
    chosen: Choice = {evaluator_id: {} for evaluator_id in evaluators} if choice is None else choice
    done: dict[str, Contribution] = {}
    for evaluator_id in in_order(evaluators, evaluators.keys() & chosen.keys()):
        each = evaluators[evaluator_id]
        done[evaluator_id] = _contribution(
            each, trial, {need: done[need] for need in each.needs}, chosen.get(each.id, {})
        )
    return done


def in_order(evaluators: Mapping[str, Evaluator], ids: Collection[str]) -> list[str]:
    """The ids and those of all their dependencies in topological order, which is deterministic.

    Raises KeyError for an unknown dependency, graphlib.CycleError for a cycle of dependencies.
    """
    pending, needs = set(ids), dict[str, frozenset[str]]()
    while pending:
        evaluator_id = min(pending)
        needs[evaluator_id] = evaluators[evaluator_id].needs
        pending = (pending | needs[evaluator_id]) - needs.keys()
    return list(TopologicalSorter(dict(sorted(needs.items()))).static_order())


def _contribution(
    evaluator: Evaluator, trial: TrialInput, needed: Mapping[str, Contribution], given: Mapping[str, float]
) -> Contribution:
    params = {name: parameter.default for name, parameter in evaluator.parameters.items()}
    objection = parameter_error(evaluator.parameters, given)
    if evaluator.tier == 3 and trial.time_is_up():
        return Contribution(warnings=(f"the evaluator {evaluator.id} is {LEFT_OUT}",))
    try:
        made: Contribution = evaluator.evaluate(trial, needed, **(params if objection else params | dict(given)))
        if evaluator.tier == 3:
            # A tier 3 evaluator must not change what the score is made from.
            made = Contribution(metrics=made.metrics, findings=made.findings, warnings=made.warnings)
    except Exception as error:
        if evaluator.tier != 3:
            raise
        return Contribution(warnings=(f"the evaluator {evaluator.id} failed: {type(error).__name__}",))
    if objection is None:
        return made
    return replace(made, warnings=(*made.warnings, f"the evaluator {evaluator.id} uses its defaults: {objection}"))
