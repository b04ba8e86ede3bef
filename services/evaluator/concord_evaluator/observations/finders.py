"""All finders of observations."""

from collections.abc import Sequence
from itertools import chain, islice
from typing import Final

from concord.assessment.results import Observation
from concord_evaluator.observations.acts import Act
from concord_evaluator.observations.calls import repeated_errors, retry_storms, same_calls, unrepaired_failures
from concord_evaluator.observations.deliveries import (
    empty_deliveries,
    failing_deliveries,
    unfinished_claims,
    work_after_end,
)
from concord_evaluator.observations.edits import clashing_edits, same_deliveries, undone_edits
from concord_evaluator.observations.observed import Finder
from concord_evaluator.observations.statements import changed_values, ignored_corrections

FINDERS: Final[Sequence[Finder]] = (
    clashing_edits,
    empty_deliveries,
    failing_deliveries,
    unfinished_claims,
    unrepaired_failures,
    repeated_errors,
    retry_storms,
    ignored_corrections,
    changed_values,
    undone_edits,
    work_after_end,
    same_deliveries,
    same_calls,
)
"""In the order in which their observations are listed."""


MAX_FOUND: Final = 100
"""Observations of each finder that are kept."""


def observe(acts: Sequence[Act]) -> list[Observation]:
    """The observations in the acts of a trace, at most `MAX_FOUND` of each finder."""
    return list(chain.from_iterable(islice(find(acts), MAX_FOUND) for find in FINDERS))
