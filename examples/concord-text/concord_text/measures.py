"""The measures, as functions of texts."""

import re
from collections.abc import Sequence, Set
from itertools import chain
from typing import Final

from concord_evaluator.metrics import TfIdf

Phrases = Set[tuple[str, ...]]

_WORD: Final = re.compile(r"\w+")


def phrases_of(text: str, words: int) -> Phrases:
    """All phrases of `words` words. A shorter text is one phrase; a text without words has none."""
    found = _WORD.findall(text.casefold())
    ends = range(words, max(words, len(found)) + 1) if found else ()
    return frozenset(tuple(found[end - words : end]) for end in ends)


def redundancy(messages: Sequence[Phrases]) -> float | None:
    """The share of phrases that repeat one of another message: 1 - distinct / all. None for fewer than two messages.

    A message counts as the set of its phrases (shingles: Broder 1997, "On the resemblance and containment of
    documents"), so that the order of messages and repetitions within one message do not matter.
    """
    if len(messages) < 2:
        return None
    return 1 - len(set(chain.from_iterable(messages))) / sum(map(len, messages))


def drifts(task: str, requests: Sequence[str]) -> list[float]:
    """The distance of each request from the task: 1 - cosine of their TF-IDF vectors (Spärck Jones 1972)."""
    vectors = TfIdf({"task": task, **{str(number): text for number, text in enumerate(requests)}})
    return [1 - vectors.cosine("task", str(number)) for number in range(len(requests))]


def resemblance(one: Phrases, other: Phrases) -> float:
    """The share of the phrases of two texts that occur in both (Jaccard; Broder's resemblance)."""
    return len(one & other) / len(one | other)
