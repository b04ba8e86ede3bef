"""How similar texts are by the words they use: TF-IDF (Spärck Jones 1972) and the cosine of its vectors."""

import math
import re
from collections import Counter
from collections.abc import Mapping
from typing import Final

_WORD: Final = re.compile(r"\w+")


class TfIdf:
    """The texts as vectors of length 1: a word counts tf * (ln((1 + N) / (1 + df)) + 1), smooth as in scikit-learn."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        counts = {name: Counter(_WORD.findall(text.lower())) for name, text in texts.items()}
        texts_with = Counter(word for words in counts.values() for word in words)
        rarity = {word: math.log((1 + len(counts)) / (1 + n)) + 1 for word, n in texts_with.items()}
        self._vectors = {
            name: _unit({word: n * rarity[word] for word, n in words.items()}) for name, words in counts.items()
        }

    def cosine(self, one: str, other: str) -> float:
        """From 0, no word in common, to 1, the same words equally often; 0 where either has no words."""
        a, b = self._vectors[one], self._vectors[other]
        return min(1.0, math.fsum(a[word] * b[word] for word in a.keys() & b.keys()))


def _unit(vector: Mapping[str, float]) -> dict[str, float]:
    length = math.sqrt(math.fsum(value * value for value in vector.values()))
    return {word: value / length for word, value in vector.items()}
