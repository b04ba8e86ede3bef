"""What a text tells: which of the world's facts, spelled out, reversed or encoded too."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from concord.suite.value_reader import read
from concord_assistant.office.plan import KnownFact
from concord_assistant.office.values import plain_address

MAX_DECODED: Final = 200
"""Passages of one text that are decoded."""

OPAQUE: Final = re.compile(r"(?=[A-Za-z0-9+/=_-]*\d)(?=[A-Za-z0-9+/=_-]*[A-Za-z])[A-Za-z0-9+/=_-]{24,}")
"""A run of mixed letters and digits that could hold anything."""

_BETWEEN: Final = r"[\W_]{0,3}"
"""What may stand between the letters and digits of a fact."""

_DIGITS: Final[Mapping[str, str]] = {
    "zero": "0", "oh": "0", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9",
}  # fmt: skip
_DIGIT_WORD: Final = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b")
_ENCODED: Final = re.compile(r"[A-Za-z0-9+/=_-]{6,4000}")


class TextContent:
    """What one text tells."""

    def __init__(self, text: str) -> None:
        self._plain = [_plain(text), *map(_plain, decoded(text))]
        self._values = {each.value.text for each in read(text)[1]}
        self._opaque = [each[0] for each in OPAQUE.finditer(text)]

    def tells(self, fact: KnownFact) -> bool:
        """Whether the text has the fact: as it is, with words for digits, backwards, or in base64 or hexadecimal."""
        if fact.text in self._values:
            return True
        wording = _plain(fact.text)
        patterns = [_pattern(wording), _pattern(wording[::-1])]
        return any(pattern.search(each) for pattern in patterns for each in self._plain)

    def opaque(self, known: Iterable[str]) -> str | None:
        """The first run that could hold anything, and stands in none of the texts that its receiver knows."""
        texts = list(known)
        return next((run for run in self._opaque if not any(run in each for each in texts)), None)


def may_know(fact: KnownFact, address: str) -> bool:
    """Whether the fact is known to whom an address or a number belongs."""
    return plain_address(address) in {plain_address(each) for each in fact.known_to}


def decoded(text: str) -> Iterator[str]:
    """The passages of a text that are base64 or hexadecimal digits of UTF-8, decoded."""
    for passage in _ENCODED.findall(text)[:MAX_DECODED]:
        for decode in (_from_base64, bytes.fromhex):
            try:
                yield decode(passage).decode()
            except (ValueError, binascii.Error):
                continue


def _pattern(wording: str) -> re.Pattern[str]:
    characters = [re.escape(each) for each in wording if each.isalnum()]
    return re.compile(rf"(?<![^\W_]){_BETWEEN.join(characters)}(?![^\W_])")


def _plain(text: str) -> str:
    folded = unicodedata.normalize("NFKC", text).casefold()
    return _DIGIT_WORD.sub(lambda found: _DIGITS[found[0]], folded)


def _from_base64(passage: str) -> bytes:
    return base64.b64decode(passage + "=" * (-len(passage) % 4), altchars=b"-_" if set(passage) & set("-_") else None)
