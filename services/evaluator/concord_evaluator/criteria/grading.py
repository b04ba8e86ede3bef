"""The grading of an assistant: its points out of the points of all criteria."""

from concord.assessment.results import GradedAnswer, Grading
from concord_assistant.results import AssessmentResults

SCORER = "criteria"


def grading_of(results: AssessmentResults, assistant: str) -> Grading:
    """The share of the points that the assistant got. Nobody's, if too many criteria could not be evaluated."""
    overall, criteria = results.scores.overall, results.criteria_results
    failed = [each.criterion_id for each in criteria if each.score is None]
    if results.unjudged or not overall.max_score:
        reason = f"criteria that could not be evaluated: {', '.join(failed) or 'all'}"
        return Grading(value=None, source="nobody", scorer=SCORER, reason=reason)
    value = overall.score / overall.max_score
    by_model = any(each.method == "model" and each.score is not None for each in criteria)
    points = f"{overall.score:g} of {overall.max_score:g} points for {len(criteria) - len(failed)} criteria"
    return Grading(
        value=value,
        source="model" if by_model else "code",
        scorer=SCORER,
        reason=f"without {', '.join(failed)}, which could not be evaluated" if failed else None,
        answers=[GradedAnswer(agent=assistant, value=value, explanation=points)],
    )
