"""Prompt injection: passages in agents' texts that address the judge."""
# ruff: noqa: RUF001 - quotation marks and stops of other scripts are meant

import base64
import binascii
import codecs
import html
import re
import tomllib
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib.resources import files
from itertools import chain
from string import Template
from typing import Any, Final
from urllib.parse import unquote

from concord.judging.verdicts import RUBRIC_IDS

# Deobfuscation: the possible readings of a disguised text, with the original position of each character.

_BETWEEN_LETTERS: Final = re.compile(r"(?<=\b\w)[\s._*-]+(?=\w\b)")
_HYPHEN: Final = re.compile(r"(?<=\w)-\s?(?=\w)")
_JOINT: Final = re.compile(r"[_/+-]+")
_ESCAPE: Final = re.compile(r"(?:%[0-9A-Fa-f]{2})+|&#?\w{2,8};|\\u[0-9A-Fa-f]{4}|\\x[0-9A-Fa-f]{2}|\\[nrt]")

_LINE_ENDS: Final = frozenset("\x85\u2028\u2029")
_UNSEEN: Final = frozenset({"Mn", "Cf", "Cc", "Co", "Cn"})

_LOOK_ALIKES: Final = str.maketrans("асеорхуіѕјԁԛԝαορτυικν0134@$", "aceopxyisjdqwaoptuikvoieaas")
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


# The patterns of text that addresses a judge: read from `pattern_data/` and compiled when they are first needed.

ENGLISH: Final = "english"
LANGUAGES: Final = (
    *(ENGLISH, "german", "french", "spanish", "italian"),
    *("portuguese", "russian", "chinese", "japanese"),
)

_JUDGE_GROUPS: Final = ("verdicts", "frames", "praise", "secrets")
_WRAPPED: Final = re.compile(r"\n *")

Expressions = dict[str, str]
"""Regular expressions in normal spelling, by name."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A way to address a judge. `opens`: the next sentence may have the request."""

    regex: re.Pattern[str]
    opens: bool = False


@cache
def team_patterns(*languages: str) -> tuple[Pattern, ...]:
    """The patterns for the work of a team: of the judge's own vocabulary, and of these languages."""
    return (*_judge_patterns(), *chain.from_iterable(_language_patterns(each, "this") for each in languages))


@cache
def assistant_patterns() -> tuple[Pattern, ...]:
    """The English patterns for the work of an assistant."""
    return tuple(_language_patterns(ENGLISH, "assistant"))


def _judge_patterns() -> Iterator[Pattern]:
    data = _data("judge")
    known = _vocabulary(ENGLISH, "this") | {"rubric_ids": _group("|".join(RUBRIC_IDS))}
    known = _extended(known, data["parts"])
    for group in _JUDGE_GROUPS:
        for written in data[group].values():
            yield Pattern(_compiled(_filled(written, known)))


def _language_patterns(language: str, work: str) -> Iterator[Pattern]:
    """`work`: the word that stands for the work that is judged."""
    data, known = _data("common"), _vocabulary(language, work)
    patterns = data[_word_order(language)]["patterns"] | data["patterns"]
    for name, written in patterns.items():
        yield Pattern(_compiled(_filled(written, known)), name in data["opening_patterns"])


def _vocabulary(language: str, work: str) -> Expressions:
    """All that the patterns of a language may name: its words, and what consists of them."""
    common, own = _data("common"), _data(language)
    known = _extended(_extended({}, common["fragments"]), own["words"])
    known["this"] = known[work]
    known["begin"] = _beginning(known["opening"], own.get("before", []))
    known["aside"] = rf"(?!\s*{known['aside']})" if "aside" in known else ""
    return _extended(_extended(known, common["parts"]), common[_word_order(language)]["parts"])


def _word_order(language: str) -> str:
    return "verb_last" if _data(language).get("verb_last") else "verb_first"


def _beginning(opening: str, words: list[str]) -> str:
    """The possible beginnings of an order, as lookbehinds, so that a match does not include the text before it."""
    if not words:
        return ""
    before = ("^", r"\n", opening, rf"{opening}\s", *(rf"\b{word}\s" for word in words))
    return _group("|".join(rf"(?<={each})" for each in before))


def _extended(known: Expressions, written: Mapping[str, str]) -> Expressions:
    """The known expressions and these, each of which may name those before it."""
    known = dict(known)
    for name, each in written.items():
        known[name] = _group(_filled(each, known))
    return known


def _filled(written: str, known: Expressions) -> str:
    return Template(_WRAPPED.sub("", written)).substitute(known)


def _group(expression: str) -> str:
    return f"(?:{expression})"


def _compiled(written: str) -> re.Pattern[str]:
    """The expression for deobfuscated text: without accents, `ss` for `ß`, and any white space for a blank."""
    decomposed = unicodedata.normalize("NFKD", written)
    bare = "".join(each for each in decomposed if unicodedata.category(each) != "Mn")
    return re.compile(bare.replace("ß", "ss").replace(" ", r"\s"))


@cache
def _data(name: str) -> Mapping[str, Any]:
    """A data file of this package."""
    return tomllib.loads(files(__package__).joinpath("pattern_data", f"{name}.toml").read_text(encoding="utf-8"))


# Detection: finds and removes passages that address the judge.

MARKER: Final = "[a passage was taken out]"
"""The replacement of a removed passage. It must not prejudice a reader for or against the author."""

_ENGLISH_WORDS: Final = re.compile(r"instructions|criteri|verdict|highest|full marks|judge|grader|evaluator")

_ROUNDS: Final = 3
_LAYERS: Final = 2
"""The maximum number of nested encodings."""

_BOUNDARY: Final = re.compile(
    r"[\n\r\x85\u2028\u2029]+|[.!?…][\"'”’»)\]]*\s+|[。！？]+[」』”]?|(?<=[,{\[])\s*(?=\")|(?<=\")\s*(?=[}\],])|"
    + re.escape(MARKER)
)
"""The boundary between sentences, lines, or fields of JSON."""

_WITHIN_LINE: Final = re.compile(r"[.!?…。！？][^\n\r\x85\u2028\u2029]*")
"""The end of a sentence that is followed by another one on the same line."""

_NOTHING: Final = re.compile(
    r"(?:thought process|let'?s (?:solve|think|work through)[^.]{0,60}|solution|(?:final )?answer|step by step"
    r"|respuesta|losung|解|解答|答案|かいせつ)?[\s:.,;!?'\"…。-]*"
)
"""Answers that are only a reasoning opener or a punctuation mark, which some judges pass.
Source: Y. Zhao et al., One Token to Fool LLM-as-a-Judge, arXiv 2507.08794."""

_FRAME: Final = re.compile(r"[\[\](){}<>|*#_`~+=/\\-]+")


def addresses_judge(text: str) -> bool:
    """Whether a text addresses the judge, in any known disguise."""
    return any(True for _ in _found(text, (), _LAYERS))


def passages(text: str, task: str = "", more: Sequence[Pattern] = ()) -> list[Span]:
    """The spans of the passages that address the judge: whole sentences, lines or fields of JSON, in order, disjoint.

    Quotations of the task are left out, since the assessor wrote it. `more`: further patterns.
    """
    edges = [match.span() for match in _BOUNDARY.finditer(text)]
    left_out = [*_occurrences(task, text), *_occurrences(MARKER, text)]
    return _merged(_widened(span, edges, text, opens=opens) for span, opens in _found(text, left_out, _LAYERS, more))


def remove_passages(text: str, task: str = "", more: Sequence[Pattern] = ()) -> tuple[str, list[str]]:
    """The text without the passages that address the judge, and these passages. `more`: further patterns."""
    taken: list[str] = []
    for _ in range(_ROUNDS):
        found = passages(text, task, more)
        if not found:
            return text, taken
        taken += [text[start:end].strip() for start, end in found]
        ends = [0, *chain.from_iterable(found), len(text)]
        text = MARKER.join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    return (MARKER, [*taken, text]) if passages(text, task, more) else (text, taken)


def says_nothing(answer: str) -> bool:
    """Whether an answer has no content: it is empty, only opens an argument, or only frames removed passages."""
    left = answer.replace(MARKER, "")
    plain = next(plain_forms(left)).text
    return _NOTHING.fullmatch(plain if left == answer else _FRAME.sub("", plain)) is not None


def _found(
    text: str, left_out: Sequence[Span], layers: int, more: Sequence[Pattern] = ()
) -> Iterator[tuple[Span, bool]]:
    for form in plain_forms(text, left_out):
        yield from _matches(form, chain(team_patterns(*LANGUAGES), more), len(text))
    for form in ciphered_forms(text):
        if _ENGLISH_WORDS.search(form.text):
            yield from _matches(form, chain(team_patterns(ENGLISH), more), len(text))
    if layers:
        for start, end, decoded in encoded_texts(text):
            if any(True for _ in _found(decoded, (), layers - 1, more)):
                yield (start, end), False


def _matches(form: Form, patterns: Iterable[Pattern], length: int) -> Iterator[tuple[Span, bool]]:
    for pattern in patterns:
        for match in pattern.regex.finditer(form.text):
            yield form.span(match.start(), match.end(), length), pattern.opens


def _occurrences(part: str, text: str) -> Iterator[Span]:
    start = text.find(part) if part else -1
    while start >= 0:
        yield start, start + len(part)
        start = text.find(part, start + len(part))


def _widened(span: Span, edges: Sequence[Span], text: str, *, opens: bool) -> Span:
    """The whole sentences of a match, and the next one if the pattern `opens` a request that it may hold."""
    start, end = span
    before = bisect_right(edges, start, key=lambda edge: edge[1]) - 1
    after = bisect_left(edges, end, key=lambda edge: edge[1])
    if opens and after < len(edges) and _WITHIN_LINE.fullmatch(text[slice(*edges[after])]):
        after += 1
    return edges[before][1] if before >= 0 else 0, edges[after][0] if after < len(edges) else len(text)


def _merged(spans: Iterable[Span]) -> list[Span]:
    merged: list[Span] = []
    for start, end in sorted(spans):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged
