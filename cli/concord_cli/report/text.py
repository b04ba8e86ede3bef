"""Text that agents and models wrote, made fit to be shown: nothing unseen, nothing that reorders, nothing too long."""

import re
from typing import Final
from unicodedata import east_asian_width

REPLACEMENT: Final = "\N{REPLACEMENT CHARACTER}"

_UNSEEN: Final = re.compile(
    "["
    "\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, save tab and newline
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what changes the direction of other text
    "\u200b\u2060-\u2064\ufeff\ufff9-\ufffb\U000e0000-\U000e007f"  # what is there and cannot be seen
    "\ud800-\udfff"
    "]"
)
_NARROW: Final = frozenset("filjrtI.,:;|!'()[]/- ")


def visible(text: str) -> str:
    """The text with every character that cannot be seen, or that reorders its neighbours, replaced by U+FFFD."""
    return _UNSEEN.sub(REPLACEMENT, text.replace("\r\n", "\n"))


def on_one_line(text: str) -> str:
    """The text without line breaks and runs of spaces; what is empty says so."""
    return " ".join(visible(text).split()) or "(empty)"


def shortened(text: str, limit: int) -> str:
    """The text on one line of at most `limit` characters, its middle left out: ids often differ at their ends."""
    line = on_one_line(text)
    if len(line) <= limit:
        return line
    tail = (limit - 1) // 2
    return f"{line[: limit - 1 - tail]}…{line[len(line) - tail :]}"


def width_of(text: str, size: float) -> float:
    """How wide a text may be in a sans-serif face of this size, in the size's unit. An estimate from above."""
    return size * sum(map(_width, text))


def _width(char: str) -> float:
    if east_asian_width(char) in "WF":
        return 1.05
    return 0.38 if char in _NARROW else 0.72 if char.isupper() or not char.isascii() else 0.6


def named(identifier: str) -> str:
    """An id of ours as words: `over_centralised` is "Over centralised"."""
    return on_one_line(identifier.replace("_", " ")).capitalize()


def counted(n: int, thing: str) -> str:
    """`1 call`, `2 calls`."""
    return f"{n:,} {thing}" if n == 1 else f"{n:,} {thing}s"
