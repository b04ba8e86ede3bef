"""The scorer `includes`: targets somewhere in the answer."""

from collections.abc import Sequence

from concord.assessment.scorers import IncludesScorer
from concord_evaluator.scorers.graded import Graded, graded, one_of, shown
from concord_evaluator.scorers.wording import contains, plain


def grade_includes(choice: IncludesScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if a target stands in the answer as whole words, or the share of the targets that do (`match_all`)."""
    length = len(answer.strip())
    if choice.max_length is not None and length > choice.max_length:
        return graded(0, f"{length} characters are more than the {choice.max_length} that are allowed")
    text = plain(answer, ignore_case=choice.ignore_case)

    def stands(wanted: str) -> bool:
        return contains(text, plain(wanted, ignore_case=choice.ignore_case))

    if forbidden := next(filter(stands, choice.forbidden), None):
        return graded(0, f"contains {shown(forbidden)}, which is forbidden")
    distinct = list(dict.fromkeys(targets))
    if choice.match_all:
        missing = [target for target in distinct if not stands(target)]
        share = 1 - len(missing) / len(distinct)
        lacks = f"; lacks {shown(missing[0])}" if missing else ""
        return graded(share, f"contains {len(distinct) - len(missing)} of {len(distinct)} targets{lacks}")
    if found := next(filter(stands, distinct), None):
        return graded(1, f"contains the target {shown(found)}")
    return graded(0, f"does not contain {one_of(distinct)}")
