"""The scorers that compare an answer with targets as text or as numbers: `exact`, `includes`, `match`, `numeric`."""

import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

import regex

from concord.assessment.scorers import (
    MAX_REPEATS,
    ExactScorer,
    IncludesScorer,
    MatchScorer,
    NumericScorer,
    PatternScorer,
    repeats,
)
from concord_evaluator.scorers.graded import Graded, ScorerFailedError, graded, one_of, shown

# Numbers in texts, as English writes them, read exactly.

_MAX_LENGTH: Final = 100
"""Characters of a number: longer runs of digits are none."""

_VARIANTS: Final = str.maketrans(
    {
        "\N{MINUS SIGN}": "-",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{FRACTION SLASH}": "/",
        "\N{NO-BREAK SPACE}": " ",
        "\N{NARROW NO-BREAK SPACE}": " ",
        "\N{THIN SPACE}": " ",
    }
)
_WORD: Final = r"\p{L}\p{M}\p{N}_"
"""Word characters. Unlike `\\w`, includes superscript digits, so that `10²` is not 10."""

_SPACED: Final = regex.compile(rf"(?<![{_WORD}.,'/])[1-9]\d{{0,2}}(?: \d{{3}})+(?![{_WORD}])")

# All characters that may belong to a number, so that no part of `3.5k`, `1.2.3` or `12/05/2024` is read as one.
_RUN: Final = regex.compile(
    rf"(?<sign>(?<![{_WORD})\]%])(?:[+-](?:\p{{Sc}}\s?)?|\p{{Sc}}[+-]))?"
    r"(?<![\p{L}\p{M}\p{N}])(?<!\d[.,'/])"
    rf"(?<run>(?:(?<![{_WORD}.])\.)?\d(?:[eE][+-]?\d|[{_WORD}.,'/])*)"
)
_TRAILING: Final = ".,'/_"
_NUMBER: Final = regex.compile(
    r"(?<whole>[1-9]\d{0,2}([,'_])\d{3}(?:\2\d{3})*|\d+)?(?:\.(?<decimals>\d*))?(?:[eE](?<exponent>[+-]?\d{1,3}))?"
)
_GROUPING: Final = regex.compile(r"[,'_]")
_RATIO: Final = regex.compile(r"(\d+)/(\d+)")


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text: as written, and its exact value."""

    text: str
    value: Fraction


def numbers_in(text: str) -> list[Number]:
    """The numbers in a text, in order.

    Reads signs (also the typographic minus), thousands separated by comma, space, apostrophe or underscore, decimals
    after a dot, powers of ten (`1e3`) and fractions (`1/2`). Ignores a currency or percent sign beside a number. Does
    not read numbers that continue with letters (`3.5k`, `42nd`), dates, versions, decimals after a comma, `nan`, `inf`.
    """
    return [figure for figure, _ in _found(_normalised(text))]


def number_in(text: str) -> Number | None:
    """The number that a text consists of, punctuation, currency and percent signs aside. None for others."""
    normalised = _normalised(text)
    found = list(_found(normalised))
    if len(found) != 1:
        return None
    figure, (start, end) = found[0]
    return None if regex.search(r"[\p{L}\p{M}\p{N}]", normalised[:start] + normalised[end:]) else figure


def exact_fraction(number: float) -> Fraction:
    """The exact value of a number as written: 0.1 is one tenth."""
    return Fraction(repr(number))


def _normalised(text: str) -> str:
    """The text with one form for each sign that has several, and without spaces in numbers."""
    return _SPACED.sub(lambda match: match[0].replace(" ", ""), text.translate(_VARIANTS))


def _found(text: str) -> Iterator[tuple[Number, tuple[int, int]]]:
    """The numbers in a text, each with its span."""
    for match in _RUN.finditer(text):
        value = _value(match["run"].rstrip(_TRAILING))
        if value is not None:
            yield Number(match[0].rstrip(_TRAILING), -value if "-" in (match["sign"] or "") else value), match.span()


def _value(run: str) -> Fraction | None:
    if len(run) > _MAX_LENGTH:
        return None
    if ratio := _RATIO.fullmatch(run):
        return Fraction(int(ratio[1]), int(ratio[2])) if int(ratio[2]) else None
    number = _NUMBER.fullmatch(run)
    if number is None or not (number["whole"] or number["decimals"]):
        return None
    whole, decimals = _GROUPING.sub("", number["whole"] or "0"), number["decimals"] or ""
    return Fraction(int(whole + decimals)) * Fraction(10) ** (int(number["exponent"] or 0) - len(decimals))


# Text normalisation for scorers: equivalent characters, and the boundaries of words and numbers.

_EQUIVALENTS: Final = str.maketrans(
    {
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
        "\N{HYPHEN}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{EN DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{SOFT HYPHEN}": None,
        "\N{ZERO WIDTH SPACE}": None,
        "\N{WORD JOINER}": None,
        "\N{ZERO WIDTH NO-BREAK SPACE}": None,
    }
)

PUNCTUATION: Final = r"(?![#%&@])[\p{P}`]"
"""A regular expression for a punctuation mark. Signs that distinguish names are none: C# is not C."""

_PUNCTUATION: Final = regex.compile(rf"{PUNCTUATION}|\s")
_SIGNED: Final = regex.compile(r"-\.?\d")

# Han, kana and South-East Asian scripts have no spaces between words, so a word may end after any character.
_JOINING: Final = r"(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])[\p{L}\p{M}\p{N}]"
_INSIDE: Final = regex.compile(
    rf"(?<={_JOINING})(?={_JOINING})"
    r"|(?<=\d)(?=\.\d)|(?<=\d\.)(?=\d)"
    r"|(?<=\d)(?=,\d{3}(?!\d))|(?<=\d,)(?=\d{3}(?!\d))"
    r"|(?<=(?<![\p{L}\p{M}\p{N})\]])-)(?=\d)"
)


def plain(text: str, *, ignore_case: bool = True) -> str:
    """The text with equivalent characters unified, white space collapsed, and case folded.

    Unicode NFC; quotation marks, hyphens and minus signs as in ASCII; invisible characters deleted.
    """
    text = text.casefold() if ignore_case else text
    return " ".join(unicodedata.normalize("NFC", text).translate(_EQUIVALENTS).split())


def trimmed(text: str) -> str:
    """A plain text without punctuation at its ends. A text of only punctuation stays as it is."""
    start, end = 0, len(text)
    while start < end and _PUNCTUATION.match(text, start) and not _SIGNED.match(text, start):
        start += 1
    while start < end and _PUNCTUATION.match(text, end - 1):
        end -= 1
    return text[start:end] or text


def contains(text: str, wanted: str) -> bool:
    """Whether a plain text contains another as whole words."""
    return any(True for _ in _positions(text, wanted))


def begins(text: str, wanted: str) -> bool:
    """Whether a plain text begins with another as whole words."""
    return bool(wanted) and text.startswith(wanted) and not _is_inside(text, len(wanted))


def ends(text: str, wanted: str) -> bool:
    """Whether a plain text ends with another as whole words."""
    return bool(wanted) and text.endswith(wanted) and not _is_inside(text, len(text) - len(wanted))


def _positions(text: str, wanted: str) -> Iterator[int]:
    """The positions of `wanted` as whole words. An empty text has none."""
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        if not _is_inside(text, start) and not _is_inside(text, start + len(wanted)):
            yield start
        start = text.find(wanted, start + 1)


def _is_inside(text: str, position: int) -> bool:
    """Whether a position is inside a word or a number. `1,234`, `3.5` and `-5` are one number each."""
    return _INSIDE.match(text, position) is not None


# The scorers of text.

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


# The scorer `pattern`: searches an answer for a regular expression of the task, within a time limit.

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
