# ruff: noqa: RUF001 - quotation marks and stops of other scripts are meant
"""Suspicion: passages in what agents wrote that speak to the judge instead of to each other."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from typing import Final

from concord_evaluator.judge.injection.deobfuscation import Form, Span, ciphered_forms, encoded_texts, plain_forms
from concord_evaluator.judge.injection.judge_patterns import JUDGE_PATTERNS
from concord_evaluator.judge.injection.languages import ENGLISH, LANGUAGES
from concord_evaluator.judge.injection.patterns import Pattern, patterns_of

MARKER: Final = "[a passage was taken out]"
"""What stands in the place of a passage: it must not set a reader for or against whoever wrote it."""

_PATTERNS: Final[Sequence[Pattern]] = (
    *JUDGE_PATTERNS,
    *(each for language in LANGUAGES for each in patterns_of(language)),
)
_ENGLISH: Final[Sequence[Pattern]] = (*JUDGE_PATTERNS, *patterns_of(ENGLISH))
_ENGLISH_WORDS: Final = re.compile(r"instructions|criteri|verdict|highest|full marks|judge|grader|evaluator")

_ROUNDS: Final = 3
_LAYERS: Final = 2
"""How often a text may be encoded."""

_BOUNDARY: Final = re.compile(
    r"[\n\r\x85\u2028\u2029]+|[.!?…][\"'”’»)\]]*\s+|[。！？]+[」』”]?|(?<=[,{\[])\s*(?=\")|(?<=\")\s*(?=[}\],])|"
    + re.escape(MARKER)
)
"""Where a sentence, a line, or a field of JSON ends and the next one begins."""

_WITHIN_LINE: Final = re.compile(r"[.!?…。！？][^\n\r\x85\u2028\u2029]*")
"""The end of a sentence that another one follows on the same line."""

_NOTHING: Final = re.compile(
    r"(?:thought process|let'?s (?:solve|think|work through)[^.]{0,60}|solution|(?:final )?answer|step by step"
    r"|respuesta|losung|解|解答|答案|かいせつ)?[\s:.,;!?'\"…。-]*"
)
"""Answers of nothing but a reasoning opener or a stray mark, which talk some judges into a pass.
Source: Y. Zhao et al., One Token to Fool LLM-as-a-Judge, arXiv 2507.08794."""

_FRAME: Final = re.compile(r"[\[\](){}<>|*#_`~+=/\\-]+")


def addresses_judge(text: str) -> bool:
    """Whether a text reads as if meant for whoever judges, however it is disguised."""
    return any(True for _ in _found(text, (), _LAYERS))


def passages(text: str, task: str = "") -> list[Span]:
    """Where a text speaks to the judge: whole sentences, lines or fields of JSON, in order, none within another.

    The task is the assessor's own word, and so is what quotes it.
    """
    edges = [match.span() for match in _BOUNDARY.finditer(text)]
    left_out = [*_occurrences(task, text), *_occurrences(MARKER, text)]
    return _merged(_widened(span, edges, text, opens=opens) for span, opens in _found(text, left_out, _LAYERS))


def take_out(text: str, task: str = "") -> tuple[str, list[str]]:
    """The text without its passages, and these. Nothing of what is left speaks to the judge."""
    taken: list[str] = []
    for _ in range(_ROUNDS):
        found = passages(text, task)
        if not found:
            return text, taken
        taken += [text[start:end].strip() for start, end in found]
        ends = [0, *chain.from_iterable(found), len(text)]
        text = MARKER.join(text[start:end] for start, end in zip(ends[::2], ends[1::2], strict=True))
    return (MARKER, [*taken, text]) if passages(text, task) else (text, taken)


def says_nothing(answer: str) -> bool:
    """Whether an answer has no content: it is empty, opens an argument and gives none, or frames what was taken out."""
    left = answer.replace(MARKER, "")
    plain = next(plain_forms(left)).text
    return _NOTHING.fullmatch(plain if left == answer else _FRAME.sub("", plain)) is not None


def _found(text: str, left_out: Sequence[Span], layers: int) -> Iterator[tuple[Span, bool]]:
    for form in plain_forms(text, left_out):
        yield from _matches(form, _PATTERNS, len(text))
    for form in ciphered_forms(text):
        if _ENGLISH_WORDS.search(form.text):
            yield from _matches(form, _ENGLISH, len(text))
    if layers:
        for start, end, said in encoded_texts(text):
            if any(True for _ in _found(said, (), layers - 1)):
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
    """The whole sentences that a match is in, and the one after them where that may hold what is asked for."""
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
