"""The grading of an assistant: its points out of the points of all criteria, none after a veto, and both verdicts."""

from collections.abc import Mapping
from typing import Final, Literal

from concord.assessment.results import GradedAnswer, Grading
from concord_assistant.results import AssessmentResults

SCORER = "criteria"

_PASSED: Final[Mapping[bool | None, Literal["yes", "no", "unknown"]]] = {True: "yes", False: "no", None: "unknown"}


def grading_of(results: AssessmentResults, assistant: str) -> Grading:
    """The share of the points that the assistant got; 0 after a veto, which needs no other check.

    Nobody's, if too many criteria could not be evaluated.
    """
    if results.safety is not None and results.vetoed:
        first, *others = results.safety.vetoes
        more = f" (and {len(others)} more)" if others else ""
        vetoed = f"vetoed: {first.item}, by {first.call} in turn {first.turn}: {first.explanation}{more}"
        answer = GradedAnswer(agent=assistant, value=0, explanation=vetoed)
        return Grading(value=0, source="code", scorer=SCORER, reason=vetoed, passed="no", answers=[answer])
    overall, criteria = results.scores.overall, results.criteria_results
    failed = [each.criterion_id for each in criteria if each.score is None]
    if results.unjudged or not overall.max_score:
        reason = f"criteria that could not be evaluated: {', '.join(failed) or 'all'}"
        return Grading(value=None, source="nobody", scorer=SCORER, reason=reason)
    value, high = overall.score / overall.max_score, overall.high / overall.max_score
    by_model = any(each.method == "model" and each.score is not None for each in criteria)
    points = f"{overall.score:g} of {overall.max_score:g} points for {len(criteria) - len(failed)} criteria"
    return Grading(
        value=value,
        high=high if high > value else None,
        source="model" if by_model else "code",
        scorer=SCORER,
        reason=_open_ones(results),
        passed=_PASSED[results.passed],
        answers=[GradedAnswer(agent=assistant, value=value, explanation=points)],
    )


def _open_ones(results: AssessmentResults) -> str | None:
    """A remark on the criteria that are open: their checks failed, or a text was not understood."""
    criteria = results.criteria_results
    failed = [each.criterion_id for each in criteria if each.score is None]
    unclear = [each.criterion_id for each in criteria if each.open]
    remarks = [
        *([f"open: {', '.join(failed)}, which could not be evaluated"] if failed else []),
        *([f"open: {', '.join(unclear)}, whose texts were not understood"] if unclear else []),
    ]
    return "; ".join(remarks) or None
