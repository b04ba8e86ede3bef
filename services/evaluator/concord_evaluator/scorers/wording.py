"""Text normalisation for scorers: equivalent characters, and the boundaries of words and numbers."""

import unicodedata
from collections.abc import Iterator
from typing import Final

import regex

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
