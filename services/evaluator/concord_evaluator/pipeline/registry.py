"""Which evaluators there are: the built-in ones and those of installed packages."""

from collections.abc import Mapping
from functools import cache
from graphlib import CycleError
from importlib.metadata import EntryPoint, entry_points
from typing import Final

from concord_evaluator.pipeline.built_in import evaluate_graph, evaluate_latency
from concord_evaluator.pipeline.evaluator import Evaluator
from concord_evaluator.pipeline.running import in_order

BUILT_IN_EVALUATORS: Final[tuple[Evaluator, ...]] = (evaluate_graph, evaluate_latency)

ENTRY_POINT_GROUP: Final = "concord.evaluators"
"""A package adds an evaluator by an entry point in this group: `name = "module:EVALUATOR"`, an `Evaluator`."""

JUDGE: Final = "judge"
"""The id of the judge. It reads what the evaluators found and waits for a model, so it has a later job."""


class BrokenEvaluatorError(Exception):
    """An installed package offers an evaluator that cannot be used."""


@cache
def installed_evaluators() -> Mapping[str, Evaluator]:
    """The built-in evaluators and those of installed packages, sorted by their ids. Raises BrokenEvaluatorError."""
    found = {evaluator.id: evaluator for evaluator in BUILT_IN_EVALUATORS}
    for entry in sorted(entry_points(group=ENTRY_POINT_GROUP), key=lambda entry: (entry.name, entry.value)):
        package = entry.dist.name if entry.dist is not None else entry.value
        evaluator = _offered(entry, package)
        if evaluator.id in {JUDGE, *found}:
            raise BrokenEvaluatorError(f"{package}: another evaluator is also called {evaluator.id!r}")
        found[evaluator.id] = evaluator
    try:
        in_order(found, found)
    except KeyError as error:
        raise BrokenEvaluatorError(f"an evaluator needs {error}, which is not installed") from error
    except CycleError as error:
        raise BrokenEvaluatorError(f"evaluators depend on each other in a cycle: {', '.join(error.args[1])}") from error
    return dict(sorted(found.items()))


def _offered(entry: EntryPoint, package: str) -> Evaluator:
    try:
        offered = entry.load()
    except Exception as error:
        raise BrokenEvaluatorError(f"{package}: the evaluator {entry.name!r} cannot be loaded: {error}") from error
    if not isinstance(offered, Evaluator):
        raise BrokenEvaluatorError(f"{package}: {entry.value} is not an Evaluator")
    return offered


def evaluator_ids() -> list[str]:
    """The ids of all evaluators, sorted."""
    return list(installed_evaluators())
