"""Which evaluators there are: the built-in ones and those of installed packages."""

from collections.abc import Mapping
from functools import cache
from graphlib import CycleError
from typing import Final

from concord_evaluator.pipeline.built_in import evaluate_graph, evaluate_latency
from concord_evaluator.pipeline.evaluator import Evaluator
from concord_evaluator.pipeline.running import in_order
from concord_evaluator.plugins import EVALUATORS, installed_plugins

BUILT_IN_EVALUATORS: Final[tuple[Evaluator, ...]] = (evaluate_graph, evaluate_latency)

ENTRY_POINT_GROUP: Final = EVALUATORS
"""A package adds an evaluator by an entry point in this group: `name = "module:EVALUATOR"`, an `Evaluator`."""

JUDGE: Final = "judge"
"""The id of the judge. It reads what the evaluators found and waits for a model, so it has a later job."""


class BrokenEvaluatorError(Exception):
    """An installed package offers an evaluator that cannot be used."""


@cache
def installed_evaluators() -> Mapping[str, Evaluator]:
    """The built-in evaluators and those of installed packages, sorted by their ids. Raises BrokenEvaluatorError."""
    found = {evaluator.id: evaluator for evaluator in BUILT_IN_EVALUATORS}
    for plugin in installed_plugins(ENTRY_POINT_GROUP, "evaluator", BrokenEvaluatorError):
        evaluator = plugin.object
        if not isinstance(evaluator, Evaluator):
            raise BrokenEvaluatorError(f"{plugin.package}: {plugin.reference} is not an Evaluator")
        if evaluator.id in {JUDGE, *found}:
            raise BrokenEvaluatorError(f"{plugin.package}: another evaluator is also called {evaluator.id!r}")
        found[evaluator.id] = evaluator
    try:
        in_order(found, found)
    except KeyError as error:
        raise BrokenEvaluatorError(f"an evaluator needs {error}, which is not installed") from error
    except CycleError as error:
        raise BrokenEvaluatorError(f"evaluators depend on each other in a cycle: {', '.join(error.args[1])}") from error
    return dict(sorted(found.items()))


def evaluator_ids() -> list[str]:
    """The ids of all evaluators, sorted."""
    return list(installed_evaluators())
