"""The scorers that compare an answer with targets as text or as numbers: `exact`, `includes`, `match`, `numeric`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import regex

from concord.assessment.task_spec import ExactScorer, IncludesScorer, MatchScorer, NumericScorer
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded, one_of, shown
from concord_evaluator.scorers.numbers import Number, exact_fraction, number_in, numbers_in
from concord_evaluator.scorers.wording import PUNCTUATION, begins, contains, ends, plain, trimmed

_ARTICLES: Final = frozenset({"a", "an", "the"})
_MARKS: Final = regex.compile(
    r"(?<kept>(?<=\d)\.(?=\d)|(?<!\w)\.(?=\d)|(?<!\w)-(?=\.?\d))"
    r"|(?<dropped>(?<=\d),(?=\d{3}(?!\d))|[.'])"
    rf"|{PUNCTUATION}"
)


Location = Literal["begin", "end", "any", "exact"]

_VERBS: Final[Mapping[Location, tuple[str, str]]] = {
    "begin": ("begins with", "does not begin with"),
    "end": ("ends with", "does not end with"),
    "any": ("contains", "does not contain"),
    "exact": ("is", "is not"),
}
_HOLDS: Final[Mapping[Location, Callable[[str, str], bool]]] = {
    "begin": begins,
    "end": ends,
    "any": contains,
    "exact": lambda text, wanted: bool(wanted) and text == wanted,
}


def grade_exact(_: ExactScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if the normal form of the answer is that of a target."""
    given = normal_form(answer)
    for target in targets:
        if given and normal_form(target) == given:
            return graded(1, f"is the target {shown(target)}")
    return graded(0, f"{shown(answer)} is not {one_of(targets)}")


def normal_form(text: str) -> str:
    """The text without case, punctuation, English articles, and differences in white space.

    As for SQuAD (Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text"), except: dots
    and apostrophes are deleted (U.S.A. is USA), other punctuation separates words, and commas between groups of three
    digits are deleted. A decimal point and a sign stay, since they change a number. An article at the end stays, since
    it is none there (plan A). Punctuation stays in a text of nothing else.
    """
    text = plain(text)
    words = _MARKS.sub(lambda match: match["kept"] or ("" if match["dropped"] else " "), text).split()
    kept = [word for word in words[:-1] if word not in _ARTICLES]
    return " ".join([*kept, words[-1]]) if words else text


def grade_includes(choice: IncludesScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if the answer contains a target as whole words; with `match_all`, the share of the targets that it contains."""
    length = len(answer.strip())
    if choice.max_length is not None and length > choice.max_length:
        return graded(0, f"{length} characters are more than the {choice.max_length} that are allowed")
    text = plain(answer, ignore_case=choice.ignore_case)

    def occurs(wanted: str) -> bool:
        return contains(text, plain(wanted, ignore_case=choice.ignore_case))

    if forbidden := next(filter(occurs, choice.forbidden), None):
        return graded(0, f"contains {shown(forbidden)}, which is forbidden")
    distinct = list(dict.fromkeys(targets))
    if choice.match_all:
        missing = [target for target in distinct if not occurs(target)]
        share = 1 - len(missing) / len(distinct)
        lacks = f"; lacks {shown(missing[0])}" if missing else ""
        return graded(share, f"contains {len(distinct) - len(missing)} of {len(distinct)} targets{lacks}")
    if found := next(filter(occurs, distinct), None):
        return graded(1, f"contains the target {shown(found)}")
    return graded(0, f"does not contain {one_of(distinct)}")


def grade_match(choice: MatchScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if a target stands at the chosen location of the answer as whole words. Ignores punctuation at the ends.

    With `numeric`, a target that is a number is compared with the numbers at the location, any other target as text.
    """
    does, does_not = _VERBS[choice.location]
    text = trimmed(plain(answer, ignore_case=choice.ignore_case))
    numbers = {figure.value for figure in _numbers_at(choice.location, answer)} if choice.numeric else set()
    for target in targets:
        number = number_in(target) if choice.numeric else None
        if number is not None and number.value in numbers:
            return graded(1, f"{does} the number {shown(number.text)}")
        wanted = trimmed(plain(target, ignore_case=choice.ignore_case))
        if number is None and _HOLDS[choice.location](text, wanted):
            return graded(1, f"{does} the target {shown(target)}")
    return graded(0, f"{does_not} {one_of(targets)}")


def _numbers_at(location: Location, answer: str) -> Sequence[Number]:
    """The numbers of an answer that are compared: the first, the last, all, or the one that is the whole answer."""
    if location == "exact":
        alone = number_in(answer)
        return [] if alone is None else [alone]
    found = numbers_in(answer)
    return {"begin": found[:1], "end": found[-1:], "any": found}[location]


def grade_numeric(choice: NumericScorer, targets: Sequence[str], answer: str) -> Graded:
    """1 if |number - target| <= max(tolerance, relative_tolerance * |target|) for a target, in exact arithmetic."""
    wanted = [_number(target) for target in targets]
    found = numbers_in(answer)
    if not found:
        return graded(0, "the answer contains no number")
    last = found[-1]
    for each in wanted:
        allowed = max(exact_fraction(choice.tolerance), exact_fraction(choice.relative_tolerance) * abs(each.value))
        if abs(last.value - each.value) <= allowed:
            within = ", within the tolerance" if last.value != each.value else ""
            return graded(1, f"the last number, {shown(last.text)}, is {shown(each.text)}{within}")
    return graded(0, f"the last number, {shown(last.text)}, is not {one_of(targets)}")


def _number(target: str) -> Number:
    figure = number_in(target)
    if figure is None:
        raise ScorerFailedError("numeric", f"the target {shown(target)} is not a number")
    return figure
