"""The changes that causes call for: a repair where tests show that it repairs such a fault, else a look at a step."""

from collections.abc import Iterable

from concord.assessment.verdict import Cause, Change
from concord.assessment.verdict_text import REPAIRS


def changes_for(causes: Iterable[Cause]) -> list[Change]:
    """A change for each cause that a change repairs, or that has a step to look at and no quote from it."""
    return [
        Change(
            kind=cause.kind,
            agents=cause.agents,
            step_id=cause.steps[0] if cause.steps else None,
            repairs=cause.kind in REPAIRS,
        )
        for cause in causes
        if cause.kind in REPAIRS or (cause.steps and all(each.step_id is None for each in cause.evidence))
    ]
