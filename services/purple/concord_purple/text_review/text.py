"""Splits a text into sentences and words, and computes its readability."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_WORD = re.compile(r"[^\W_]+(?:['\u2019.,-][^\W_]+)*")
_PARAGRAPH = re.compile(r"\n[ \t]*\n")
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"\u201d\u2019)\]]{0,3}\s+(?=[\"\u201c\u2018(\[]?[A-Z0-9])")
_ABBREVIATION = re.compile(r"\b(?:Dr|Mr|Mrs|Ms|Prof|St|vs|cf|e\.g|i\.e|etc|approx|Fig|No|al)\.$")


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, its number in the text (from 1), and its words in order."""

    number: int
    text: str
    words: tuple[str, ...]


def sentences_of(text: str) -> tuple[Sentence, ...]:
    """The sentences of a text; a blank line ends one too, an abbreviation's full stop does not."""
    found = [_as_one_line(piece) for paragraph in _PARAGRAPH.split(text) for piece in _split_paragraph(paragraph)]
    worded = ((sentence, tuple(_WORD.findall(sentence))) for sentence in found)
    return tuple(
        Sentence(number, sentence, words)
        for number, (sentence, words) in enumerate(((s, w) for s, w in worded if w), start=1)
    )


def _split_paragraph(paragraph: str) -> list[str]:
    pieces: list[str] = []
    start = 0
    for end in _SENTENCE_END.finditer(paragraph):
        if _ABBREVIATION.search(paragraph, max(start, end.start() - 12), end.start()):
            continue
        pieces.append(paragraph[start : end.end()])
        start = end.end()
    return [*pieces, paragraph[start:]]


def _as_one_line(text: str) -> str:
    return " ".join(text.split())


def readability_grade(sentences: Sequence[Sentence]) -> float:
    """The Automated Readability Index: the US school grade for which a text is readable.

    4.71 · characters/word + 0.5 · words/sentence - 21.43. Source: Smith & Senter, AMRL-TR-66-220 (1967).
    Raises ZeroDivisionError on a text without words.
    """
    words = [word for sentence in sentences for word in sentence.words]
    characters = sum(character.isalnum() for word in words for character in word)
    return 4.71 * characters / len(words) + 0.5 * len(words) / len(sentences) - 21.43


def passage(sentence: Sentence, first: int, n_words: int) -> str:
    """The part of a sentence with these words, as it is written. `first`: the place of the first word, from 0."""
    words = list(_WORD.finditer(sentence.text))[first : first + n_words]
    return sentence.text[words[0].start() : words[-1].end()] if words else ""


def contains(text: str, quote: str) -> bool:
    """Whether the text has this passage; case and line breaks do not matter."""
    return _as_one_line(quote).casefold() in _as_one_line(text).casefold()
