"""Deobfuscation: the possible readings of a disguised text, with the original position of each character."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final
from urllib.parse import unquote

_BETWEEN_LETTERS: Final = re.compile(r"(?<=\b\w)[\s._*-]+(?=\w\b)")
_HYPHEN: Final = re.compile(r"(?<=\w)-\s?(?=\w)")
_JOINT: Final = re.compile(r"[_/+-]+")
_ESCAPE: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|&#?\w{2,8};|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrt]")

_LINE_ENDS: Final = frozenset("\x85\u2028\u2029")
_UNSEEN: Final = frozenset({"Mn", "Cf", "Cc", "Co", "Cn"})

_LOOK_ALIKES: Final = str.maketrans("асеорхуіѕјԁԛԝαορτυικν0134@$", "aceopxyisjdqwaoptuikvoieaas")  # noqa: RUF001
"""Cyrillic and Greek letters, digits and signs that pass for Latin letters."""

_BASE64: Final = re.compile(r"[A-Za-z0-9+/_-]{12,}+={0,2}")
_HEXADECIMAL: Final = re.compile(r"(?:(?:0x|\\x)?+[0-9A-Fa-f]{2}[\s,:]?+){12,}+")
_NO_DIGIT: Final = re.compile(r"0x|\\x|[\s,:]")

Span = tuple[int, int]
"""The first position of a passage and the one after its last."""


@dataclass(frozen=True, slots=True)
class Form:
    """A reading of a text. `positions`: for each of its characters, the position in the original text."""

    text: str
    positions: Sequence[int]

    def span(self, start: int, end: int, length: int) -> Span:
        """The span in the original text that a part of the form came from. `length`: of the original text."""
        first, last = self.positions[start], self.positions[end - 1]
        if last < first:
            return last, first + 1
        return first, self.positions[end] if end < len(self.positions) else length


def plain_forms(text: str, left_out: Sequence[Span] = ()) -> Iterator[Form]:
    """The different readings of a text without the spans in `left_out`.

    The first has compatibility characters folded, and marks and invisible characters deleted. The others also replace
    look-alikes by Latin letters, join spaced letters, delete hyphens or replace them by blanks, or resolve escapes of
    HTML, JSON and URLs.
    """
    seen = set[str]()
    for form in _readings(text, left_out):
        if form.text not in seen:
            seen.add(form.text)
            yield form


def ciphered_forms(text: str) -> Iterator[Form]:
    """The text decoded by rot13, and reversed."""
    visible = _visible(Form(text, range(len(text))), ())
    yield Form(codecs.encode(visible.text, "rot13"), visible.positions)
    yield Form(visible.text[::-1], visible.positions[::-1])


def _readings(text: str, left_out: Sequence[Span]) -> Iterator[Form]:
    written = Form(text, range(len(text)))
    visible = _visible(written, left_out)
    yield visible
    yield Form(visible.text.translate(_LOOK_ALIKES), visible.positions)
    yield _replaced(visible, _BETWEEN_LETTERS, "")
    yield _replaced(visible, _HYPHEN, "")
    yield _replaced(visible, _JOINT, " ")
    resolved = _resolved(written)
    if resolved.text != text:
        yield _visible(resolved, left_out)


def _visible(form: Form, left_out: Sequence[Span]) -> Form:
    """The form in lower case without marks and invisible characters. Runs of blanks, and of line ends, become one."""
    characters: list[str] = []
    positions: list[int] = []
    hidden = _positions_in(left_out)
    for position, written in zip(form.positions, form.text, strict=True):
        if position in hidden:
            continue
        for character in _as_read(written):
            last = characters[-1] if characters else "\n"
            if character in " \n" and last in " \n":
                if character == "\n" and last == " ":
                    characters[-1] = character
                continue
            characters.append(character)
            positions.append(position)
    return Form("".join(characters), positions)


@lru_cache(maxsize=1024)  # texts are long, and have few different characters
def _as_read(character: str) -> str:
    if character.isascii():
        if character.isspace():
            return " " if character in " \t" else "\n"
        return character.lower() if character.isprintable() else ""
    if character in _LINE_ENDS:
        return "\n"
    decomposed = unicodedata.normalize("NFKD", character)
    return "".join(
        " " if each.isspace() else each.casefold() for each in decomposed if unicodedata.category(each) not in _UNSEEN
    )


def _positions_in(spans: Sequence[Span]) -> set[int]:
    return {position for start, end in spans for position in range(start, end)}


def _replaced(form: Form, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> Form:
    """The form with all matches replaced. Replacements have the position of the start of their match."""
    texts: list[str] = []
    positions: list[int] = []
    done = 0
    for match in pattern.finditer(form.text):
        new = by if isinstance(by, str) else by(match)
        texts += form.text[done : match.start()], new
        positions += form.positions[done : match.start()]
        positions += [form.positions[match.start()]] * len(new)
        done = match.end()
    return Form("".join([*texts, form.text[done:]]), [*positions, *form.positions[done:]])


def _resolved(form: Form) -> Form:
    """The form with escapes resolved, twice because escapes may be nested."""
    once = _replaced(form, _ESCAPE, _unescaped)
    return _replaced(once, _ESCAPE, _unescaped)


def _unescaped(match: re.Match[str]) -> str:
    found = match[0]
    if found.startswith("%"):
        return unquote(found, errors="replace")
    if found.startswith("&"):
        return html.unescape(found)
    return chr(int(found[2:], 16)) if found[1] in "ux" else " "


def encoded_texts(text: str) -> Iterator[tuple[int, int, str]]:
    """The encoded texts in a text: start, end and decoded text. Base64 may span several lines."""
    for match in _HEXADECIMAL.finditer(text):
        if (decoded := _text_of(bytes.fromhex(_NO_DIGIT.sub("", match[0])))) is not None:
            yield match.start(), match.end(), decoded
    lines: list[re.Match[str]] = []
    for match in _BASE64.finditer(text):
        if (decoded := _from_base64(match[0])) is not None:
            yield match.start(), match.end(), decoded
        if lines and text[lines[-1].end() : match.start()].strip(" \t\r") != "\n":
            yield from _joined(lines)
            lines = []
        lines.append(match)
    yield from _joined(lines)


def _joined(lines: list[re.Match[str]]) -> Iterator[tuple[int, int, str]]:
    if len(lines) > 1 and (decoded := _from_base64("".join(line[0] for line in lines))) is not None:
        yield lines[0].start(), lines[-1].end(), decoded


def _from_base64(written: str) -> str | None:
    digits = written.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _text_of(base64.b64decode(digits + "=" * (-len(digits) % 4), validate=True))
    except binascii.Error:
        return None


def _text_of(data: bytes) -> str | None:
    """The bytes as UTF-8 text. None if they are not printable text."""
    try:
        decoded = data.decode()
    except UnicodeDecodeError:
        return None
    return decoded if all(each.isprintable() or each.isspace() for each in decoded) else None
