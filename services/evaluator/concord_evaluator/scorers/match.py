"""The scorer `match`: a target, or a number, at a place of the answer."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

from concord.assessment.scorers import MatchScorer
from concord_evaluator.scorers.figures import Figure, figure_of, figures
from concord_evaluator.scorers.graded import Graded, graded, one_of, shown
from concord_evaluator.scorers.wording import begins, contains, ends, plain, trimmed

Location = Literal["begin", "end", "any", "exact"]

_WORDS: Final[Mapping[Location, tuple[str, str]]] = {
    "begin": ("begins with", "does not begin with"),
    "end": ("ends with", "does not end with"),
    "any": ("contains", "does not contain"),
    "exact": ("is", "is not"),
}
_STANDS: Final[Mapping[Location, Callable[[str, str], bool]]] = {
    "begin": begins,
    "end": ends,
    "any": contains,
    "exact": lambda text, wanted: bool(wanted) and text == wanted,
}


def grade_match(choice: MatchScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if a target stands at the place as whole words, punctuation at the ends apart.

    With `numeric`, a target that is a number is compared with the numbers there, and any other as a text.
    """
    does, does_not = _WORDS[choice.location]
    text = trimmed(plain(answer, ignore_case=choice.ignore_case))
    numbers = {figure.value for figure in _figures_at(choice.location, answer)} if choice.numeric else set()
    for target in targets:
        number = figure_of(target) if choice.numeric else None
        if number is not None and number.value in numbers:
            return graded(1, f"{does} the number {shown(number.text)}")
        wanted = trimmed(plain(target, ignore_case=choice.ignore_case))
        if number is None and _STANDS[choice.location](text, wanted):
            return graded(1, f"{does} the target {shown(target)}")
    return graded(0, f"{does_not} {one_of(targets)}")


def _figures_at(location: Location, answer: str) -> Sequence[Figure]:
    """The numbers of an answer that are compared: its first, its last, all, or the one that is all of it."""
    if location == "exact":
        alone = figure_of(answer)
        return [] if alone is None else [alone]
    found = figures(answer)
    return {"begin": found[:1], "end": found[-1:], "any": found}[location]
