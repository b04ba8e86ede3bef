"""The scorer `exact`: the same text, but for how it is written."""

from collections.abc import Sequence
from typing import Final

import regex

from concord_evaluator.scorers.graded import Graded, graded, one_of, shown
from concord_evaluator.scorers.wording import PUNCTUATION, plain

_ARTICLES: Final = frozenset({"a", "an", "the"})
_MARKS: Final = regex.compile(
    r"(?<kept>(?<=\d)\.(?=\d)|(?<!\w)\.(?=\d)|(?<!\w)-(?=\.?\d))"
    r"|(?<dropped>(?<=\d),(?=\d{3}(?!\d))|[.'])"
    rf"|{PUNCTUATION}"
)


def grade_exact(targets: Sequence[str], answer: str) -> Graded:
    """1 if the answer is a target, compared in their normal forms."""
    given = normal_form(answer)
    for target in targets:
        if given and normal_form(target) == given:
            return graded(1, f"is the target {shown(target)}")
    return graded(0, f"{shown(answer)} is not {one_of(targets)}")


def normal_form(text: str) -> str:
    """A text without case, punctuation, English articles, and differences of white space.

    After SQuAD's (Rajpurkar et al. 2016, "SQuAD: 100,000+ Questions for Machine Comprehension of Text"), but: dots and
    apostrophes vanish (U.S.A. is USA), other punctuation separates words, commas between groups of three digits vanish.
    What gives a number its value stays: the decimal point and a sign. An article stays at the end, where it is none
    (plan A), and punctuation stays in a text of nothing else.
    """
    text = plain(text)
    words = _MARKS.sub(lambda match: match["kept"] or ("" if match["dropped"] else " "), text).split()
    kept = [word for word in words[:-1] if word not in _ARTICLES]
    return " ".join([*kept, words[-1]]) if words else text
