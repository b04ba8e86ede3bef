"""The scorer `numeric`: the last number of the answer, within a tolerance."""

from collections.abc import Sequence

from concord.assessment.scorers import NumericScorer
from concord_evaluator.scorers.figures import Figure, exactly, figure_of, figures
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded, one_of, shown


def grade_numeric(choice: NumericScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if |number - target| <= max(tolerance, relative_tolerance * |target|) for a target, reckoned exactly."""
    wanted = [_number(target) for target in targets]
    found = figures(answer)
    if not found:
        return graded(0, "there is no number in the answer")
    last = found[-1]
    for each in wanted:
        allowed = max(exactly(choice.tolerance), exactly(choice.relative_tolerance) * abs(each.value))
        if abs(last.value - each.value) <= allowed:
            within = ", within the tolerance" if last.value != each.value else ""
            return graded(1, f"the last number, {shown(last.text)}, is {shown(each.text)}{within}")
    return graded(0, f"the last number, {shown(last.text)}, is not {one_of(targets)}")


def _number(target: str) -> Figure:
    figure = figure_of(target)
    if figure is None:
        raise ScorerFailedError("numeric", f"the target {shown(target)} is no number")
    return figure
