"""The words for metrics: the evaluator has them, and whatever packages add metrics and evaluators to it."""

from collections.abc import Callable

Definitions = Callable[[str], str | None]
"""From a definition id to what it means, in words; None for one that is not known."""


def undefined(_: str) -> str | None:
    """Knows no definition: the ids must do."""
    return None


def installed_definitions() -> Definitions:
    """The definitions of all metrics that are installed; none without the evaluator, or if a package is broken."""
    try:
        from concord_evaluator.metrics import BrokenMetricError, installed_metrics
        from concord_evaluator.pipeline import BrokenEvaluatorError, installed_evaluators
    except ModuleNotFoundError:
        return undefined
    try:
        of_evaluators = [evaluator.definitions for evaluator in installed_evaluators().values()]
        of_metrics = {metric.definition_id: metric.definition for metric in installed_metrics().values()}
    except (BrokenMetricError, BrokenEvaluatorError):
        return undefined
    return {words_id: words for each in (*of_evaluators, of_metrics) for words_id, words in each.items()}.get
