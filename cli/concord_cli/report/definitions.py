"""The words for metrics: the evaluator has them, and whatever packages add metrics to it."""

from collections.abc import Callable

Definitions = Callable[[str], str | None]
"""From a definition id to what it means, in words; None for one that is not known."""


def undefined(_: str) -> str | None:
    """Knows no definition: the ids must do."""
    return None


def installed_definitions() -> Definitions:
    """The definitions of the metrics that are installed; none without the evaluator, or if a package is broken."""
    try:
        from concord_evaluator.metrics import BrokenMetricError, definition_of, installed_metrics
    except ModuleNotFoundError:
        return undefined
    try:
        installed_metrics()
    except BrokenMetricError:
        return undefined
    return definition_of
