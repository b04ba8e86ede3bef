"""The parts of imported criteria."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from concord_agentdojo.calls import moment

Criterion = dict[str, Any]
"""A criterion as `scenario.json` has it."""
Where = dict[str, Any]


def criterion(criterion_id: str, name: str, dimension: str, evaluator_id: str, params: dict[str, Any]) -> Criterion:
    """A criterion without points."""
    return {
        "criterion_id": criterion_id,
        "name": name,
        "description": f"{name}.",
        "dimension": dimension,
        "evaluator_id": evaluator_id,
        "params": params,
    }


def with_points(criteria: Sequence[Criterion], points: int) -> list[Criterion]:
    """The criteria with equal shares of the points; the first one gets the rest."""
    share = points // len(criteria)
    rest = points - share * len(criteria)
    return [each | {"max_score": share + (rest if number == 0 else 0)} for number, each in enumerate(criteria)]


def utc(time: str) -> str:
    """A time of AgentDojo, such as `2024-05-19 12:00`, in UTC."""
    return moment(datetime.fromisoformat(time))
