"""Makes text that agents and models wrote safe to display: no invisible or reordering characters, no excess length."""

import re
from typing import Final
from unicodedata import east_asian_width

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

_UNSEEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, except tab and newline
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # changes the direction of other text
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # invisible
    "\ud800-\udfff"
    "]"
)
_NARROW: Final = frozenset("filjrtI.,:;|!'()[]/- ")


def printable(text: str) -> str:
    """The text on one line without control characters, since a terminal would obey escape sequences in it."""
    return "".join(char if char.isprintable() else " " for char in text)


def visible(text: str) -> str:
    """The text with U+FFFD for each character that is invisible or reorders its neighbours."""
    return _UNSEEN.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """The text without line breaks and runs of spaces; "(empty)" for an empty text."""
    return " ".join(visible(text).split()) or "(empty)"


def shortened(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters. The middle is left out, since ids often differ at the end."""
    line = on_one_line(text)
    if len(line) <= limit:
        return line
    tail = (limit - 1) // 2
    return f"{line[: limit - 1 - tail]}…{line[len(line) - tail :]}"


def beginning(text: str, limit: int) -> str:
    """The text on one line, cut at its end to `limit` characters."""
    line = on_one_line(text)
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def width_of(text: str, size: float) -> float:
    """An upper estimate of the text's width in a sans-serif font of this size, in the size's unit."""
    return size * sum(map(_width, text))


def _width(char: str) -> float:
    if east_asian_width(char) in "WF":
        return 1.05
    return 0.38 if char in _NARROW else 0.72 if char.isupper() or not char.isascii() else 0.6


def named(identifier: str) -> str:
    """An identifier as words: `over_centralised` becomes "Over centralised"."""
    return on_one_line(identifier.replace("_", " ")).capitalize()


def counted(n: int, thing: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
