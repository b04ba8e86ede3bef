"""Texts as scorers compare them: what counts as the same, and where a word or a number ends."""

import unicodedata
from collections.abc import Iterator
from typing import Final

import regex

_ALIKE: Final = str.maketrans(
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
"""A punctuation mark, as a regular expression. C# is not C: signs that tell names apart are none."""

_PUNCTUATION: Final = regex.compile(rf"{PUNCTUATION}|\s")
_SIGNED: Final = regex.compile(r"-\.?\d")

# Han, kana and the scripts of South-East Asia put no space between words, so any place in them may end one.
_JOINING: Final = r"(?![\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}])[\p{L}\p{M}\p{N}]"
_INSIDE: Final = regex.compile(
    rf"(?<={_JOINING})(?={_JOINING})"
    r"|(?<=\d)(?=\.\d)|(?<=\d\.)(?=\d)"
    r"|(?<=\d)(?=,\d{3}(?!\d))|(?<=\d,)(?=\d{3}(?!\d))"
    r"|(?<=(?<![\p{L}\p{M}\p{N})\]])-)(?=\d)"
)


def plain(text: str, *, ignore_case: bool = True) -> str:
    """A text with one form for each character that has several, one space for any white space, and folded case.

    The forms: Unicode's NFC; quotation marks, hyphens and minus signs as on a keyboard; invisible characters gone.
    """
    text = text.casefold() if ignore_case else text
    return " ".join(unicodedata.normalize("NFC", text).translate(_ALIKE).split())


def trimmed(text: str) -> str:
    """A plain text without the punctuation at its ends, or all of it where it is nothing else."""
    start, end = 0, len(text)
    while start < end and _PUNCTUATION.match(text, start) and not _SIGNED.match(text, start):
        start += 1
    while start < end and _PUNCTUATION.match(text, end - 1):
        end -= 1
    return text[start:end] or text


def contains(text: str, wanted: str) -> bool:
    """Whether a plain text has another in it as whole words."""
    return any(True for _ in _places(text, wanted))


def begins(text: str, wanted: str) -> bool:
    """Whether a plain text begins with another as whole words."""
    return bool(wanted) and text.startswith(wanted) and not _is_inside(text, len(wanted))


def ends(text: str, wanted: str) -> bool:
    """Whether a plain text ends with another as whole words."""
    return bool(wanted) and text.endswith(wanted) and not _is_inside(text, len(text) - len(wanted))


def _places(text: str, wanted: str) -> Iterator[int]:
    """Where `wanted` stands as whole words. A blank text stands nowhere."""
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        if not _is_inside(text, start) and not _is_inside(text, start + len(wanted)):
            yield start
        start = text.find(wanted, start + 1)


def _is_inside(text: str, place: int) -> bool:
    """Whether a word or a number goes on across a place: `1,234`, `3.5` and `-5` are one number each."""
    return _INSIDE.match(text, place) is not None
