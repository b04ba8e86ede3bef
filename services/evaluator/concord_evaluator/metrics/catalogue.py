"""The catalogue: what every installed metric means, in words."""

from collections.abc import Iterator

from concord_evaluator.metrics.metric import Metric, Parameter
from concord_evaluator.metrics.registry import installed_metrics


def definition_of(definition_id: str) -> str | None:
    """The words for a formula; None for one that no installed metric has."""
    return next((each.definition for each in installed_metrics().values() if each.definition_id == definition_id), None)


def as_table() -> Iterator[str]:
    """All installed metrics as the lines of a Markdown table."""
    yield "| Metric | Definition | Parameters |"
    yield "|---|---|---|"
    for metric in installed_metrics().values():
        yield f"| `{metric.id}`<br>`{metric.definition_id}` | {_cell(metric.definition)} | {_parameters(metric)} |"


def _parameters(metric: Metric) -> str:
    return ", ".join(f"`{name}` {_range(parameter)}" for name, parameter in metric.parameters.items())


def _range(parameter: Parameter) -> str:
    return f"{parameter.default:g} ({parameter.minimum:g} to {parameter.maximum:g})"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")
