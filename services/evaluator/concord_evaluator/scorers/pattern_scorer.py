"""The scorer `pattern`: searches an answer for a regular expression of the task, within a time limit."""

from collections.abc import Sequence
from typing import Final

import regex

from concord.assessment.task_spec import MAX_REPEATS, PatternScorer, repeats
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded, one_of, shown

SEARCH_S: Final = 1.0
"""Processor time that a search may take (s). Some patterns backtrack exponentially."""


def grade_pattern(choice: PatternScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if a group of the first match is a target; with `match_all`, if all groups that took part in it are."""
    found = search("pattern", choice.pattern, answer, ignore_case=choice.ignore_case, limit_s=SEARCH_S)
    if found is None:
        return graded(0, "the pattern does not match")
    if not targets:
        return graded(1, f"the pattern matches {shown(found[0])}")
    groups = [group for group in found.groups() or (found[0],) if group is not None]
    wanted = {_compared(target, choice.ignore_case) for target in targets}
    right = [_compared(group, choice.ignore_case) in wanted for group in groups]
    if groups and (all(right) if choice.match_all else any(right)):
        return graded(1, f"the pattern finds the target {shown(groups[right.index(True)])}")
    wrong = f"finds {shown(groups[right.index(False)])}" if groups else "matches, but none of its groups do"
    return graded(0, f"the pattern {wrong}, not {one_of(targets)}")


def search(
    scorer: str, pattern: str, text: str, *, ignore_case: bool = False, limit_s: float
) -> "regex.Match[str] | None":
    """The first match of a pattern. Raises ScorerFailedError if it cannot be compiled, or takes over `limit_s`."""
    if repeats(pattern) > MAX_REPEATS:
        raise ScorerFailedError(scorer, f"the pattern {shown(pattern)} has too many repetitions")
    try:
        return regex.search(pattern, text, regex.IGNORECASE if ignore_case else 0, timeout=limit_s)
    except TimeoutError as error:
        raise ScorerFailedError(scorer, f"the pattern {shown(pattern)} takes too long") from error
    except (regex.error, RecursionError, MemoryError) as error:
        raise ScorerFailedError(scorer, f"the pattern {shown(pattern)} is not a regular expression: {error}") from error


def _compared(text: str, ignore_case: bool) -> str:
    return text.strip().casefold() if ignore_case else text.strip()
