"""Texts inside a text in an encoding that a reader can undo: base64 and hexadecimal digits."""

import base64
import binascii
import re
from collections.abc import Iterator
from typing import Final

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{12,}+={0,2}")
_HEXADECIMAL: Final = re.compile(r"(?:(?:0x|\\x)?+[0-9A-Fa-f]{2}[\s,:]?+){12,}+")
_NO_DIGIT: Final = re.compile(r"0x|\\x|[\s,:]")


def encoded_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """Where an encoded text begins and ends, and what it says; base64 may go on over several lines."""
    for match in _HEXADECIMAL.finditer(text):
        if (said := _said(bytes.fromhex(_NO_DIGIT.sub("", match[0])))) is not None:
            yield match.start(), match.end(), said
    lines: list[re.Match[str]] = []
    for match in _BASE64.finditer(text):
        if (said := _from_base64(match[0])) is not None:
            yield match.start(), match.end(), said
        if lines and text[lines[-1].end() : match.start()].strip(" \t\r") != "\n":
            yield from _joined(lines)
            lines = []
        lines.append(match)
    yield from _joined(lines)


def _joined(lines: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    if len(lines) > 1 and (said := _from_base64("".join(line[0] for line in lines))) is not None:
        yield lines[0].start(), lines[-1].end(), said


def _from_base64(written: str) -> str | None:
    digits = written.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _said(base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True))
    except binascii.Error:
        return None


def _said(data: bytes) -> str | None:
    """The text of bytes, if that is what they are."""
    try:
        said = data.decode()
    except UnicodeDecodeError:
        return None
    return said if all(each.isprintable() or each.isspace() for each in said) else None
