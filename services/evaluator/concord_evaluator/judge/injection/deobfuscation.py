"""Deobfuscation: the texts that a disguised text may be read as, with the place that each character came from."""

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
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
    """A text, and for each of its characters the place that it came from in the text as it was written."""

    text: str
    places: Sequence[int]

    def span(self, start: int, end: int, length: int) -> Span:
        """Where a part of the form came from; `length`: of the text as it was written."""
        first, last = self.places[start], self.places[end - 1]
        if last < first:
            return last, first + 1
        return first, self.places[end] if end < len(self.places) else length


def plain_forms(text: str, left_out: Sequence[Span] = ()) -> Iterator[Form]:
    """The text as it reads, and as it may be meant to: without what is left out, and each form once.

    Compatibility forms are folded, marks and invisible characters gone; then look-alikes are Latin letters, spaced
    letters are words, hyphens are gone or blanks, escapes of HTML, JSON and URLs are resolved.
    """
    seen = set[str]()
    for form in _made(text, left_out):
        if form.text not in seen:
            seen.add(form.text)
            yield form


def ciphered_forms(text: str) -> Iterator[Form]:
    """The text read by rot13, and backwards."""
    visible = _visible(Form(text, range(len(text))), ())
    yield Form(codecs.encode(visible.text, "rot13"), visible.places)
    yield Form(visible.text[::-1], visible.places[::-1])


def _made(text: str, left_out: Sequence[Span]) -> Iterator[Form]:
    written = Form(text, range(len(text)))
    visible = _visible(written, left_out)
    yield visible
    yield Form(visible.text.translate(_LOOK_ALIKES), visible.places)
    yield _replaced(visible, _BETWEEN_LETTERS, "")
    yield _replaced(visible, _HYPHEN, "")
    yield _replaced(visible, _JOINT, " ")
    resolved = _resolved(written)
    if resolved.text != text:
        yield _visible(resolved, left_out)


def _visible(form: Form, left_out: Sequence[Span]) -> Form:
    """Without marks and what cannot be seen, in one case; blanks in a row are one, and so are line ends."""
    characters: list[str] = []
    places: list[int] = []
    hidden = _places_in(left_out)
    for place, written in zip(form.places, form.text, strict=True):
        if place in hidden:
            continue
        for character in _as_read(written):
            last = characters[-1] if characters else "\n"
            if character in " \n" and last in " \n":
                if character == "\n" and last == " ":
                    characters[-1] = character
                continue
            characters.append(character)
            places.append(place)
    return Form("".join(characters), places)


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


def _places_in(spans: Sequence[Span]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def _replaced(form: Form, pattern: re.Pattern[str], by: str | Callable[[re.Match[str]], str]) -> Form:
    """The form with what a pattern finds replaced; what comes in its place is from where it began."""
    texts: list[str] = []
    places: list[int] = []
    done = 0
    for match in pattern.finditer(form.text):
        new = by if isinstance(by, str) else by(match)
        texts += form.text[done : match.start()], new
        places += form.places[done : match.start()]
        places += [form.places[match.start()]] * len(new)
        done = match.end()
    return Form("".join([*texts, form.text[done:]]), [*places, *form.places[done:]])


def _resolved(form: Form) -> Form:
    """What escapes stand for; twice, since what is escaped may have been so before."""
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
