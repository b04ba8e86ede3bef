# ruff: noqa: RUF001 - quotation marks and stops of other scripts are meant
"""Detection: finds and removes passages that address the judge."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from concord.judging.injection.deobfuscation import Form, Span, ciphered_forms, encoded_texts, plain_forms
from concord.judging.injection.patterns import ENGLISH, LANGUAGES, Pattern, team_patterns

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
