"""Plugins: the objects that installed packages offer at an entry-point group, for the registries."""

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Final

from concord.assessment.scorers import ENTRY_POINT_GROUP as SCORERS

METRICS: Final = "concord.metrics"
EVALUATORS: Final = "concord.evaluators"
"""The groups of entry points by which packages extend an evaluation."""


@dataclass(frozen=True, slots=True)
class Plugin:
    """An object that `package` offers under `name`. `reference`: where the object is (`module:attribute`)."""

    name: str
    package: str
    reference: str
    object: object


def broken_plugin() -> str | None:
    """Which installed metric, evaluator or scorer cannot be used, and why; None if all can."""
    if not any(entry_points(group=group) for group in (METRICS, EVALUATORS, SCORERS)):
        return None  # and nothing is loaded: the built-in ones take a third of a worker's start
    from concord_evaluator.metrics import BrokenMetricError, installed_metrics
    from concord_evaluator.pipeline import BrokenEvaluatorError, installed_evaluators
    from concord_evaluator.scorers import BrokenScorerError, installed_scorers

    try:
        installed_metrics()
        installed_evaluators()
        installed_scorers()
    except (BrokenMetricError, BrokenEvaluatorError, BrokenScorerError) as error:
        return str(error)
    return None


def installed_plugins(group: str, kind: str, broken: type[Exception]) -> Iterator[Plugin]:
    """The plugins of a group, sorted by name. `kind` says in an error what they are.

    Raises `broken` if a plugin cannot be loaded.
    """
    for entry in sorted(entry_points(group=group), key=lambda entry: (entry.name, entry.value)):
        package = entry.dist.name if entry.dist is not None else entry.value
        try:
            loaded: object = entry.load()
        except Exception as error:
            raise broken(f"{package}: the {kind} {entry.name!r} cannot be loaded: {error}") from error
        yield Plugin(entry.name, package, entry.value, loaded)
