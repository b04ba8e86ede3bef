"""The results of scenarios in a row, as the summary and the page read them."""

from typing import Final

from pydantic import TypeAdapter, ValidationError

from concord.assessment.result_row import Detail
from concord_assistant.results import AssessmentResults

MAX_POINTS: Final = 1e9
"""No scenario gives more. A row that claims to is not shown: its figures would not fit."""

_RESULTS: Final = TypeAdapter(list[AssessmentResults])


def scenario_results(detail: Detail, trial_id: str | None = None) -> list[AssessmentResults]:
    """The results of the row's trials in scenarios, or of one of its trials. Empty if there are none, or unreadable.

    Keys of later versions are ignored.
    """
    try:
        found = _RESULTS.validate_python(detail.assessment_results, extra="ignore")
    except ValidationError:
        return []
    if not all(map(_fits, found)):
        return []
    return [each for each in found if trial_id is None or each.assessment_id.endswith(f"/{trial_id}")]


def is_lone_assistant(detail: Detail) -> bool:
    """Whether the row is of one assistant, in scenarios only: no other agent is declared or was observed."""
    results = scenario_results(detail)
    return bool(results) and len(detail.agents) <= 1 and len(results) >= len(detail.trials)


def _fits(results: AssessmentResults) -> bool:
    scores = (results.scores.overall, *results.scores.dimensions.values())
    possible = [*(each.max_score for each in scores), *(each.max_score for each in results.criteria_results)]
    return all(each <= MAX_POINTS for each in possible)
