"""Truncation: shares a budget of characters fairly among texts, and cuts the texts that exceed their share."""

from collections.abc import Sequence
from itertools import accumulate, takewhile
from json.encoder import encode_basestring_ascii
from typing import Final

EVIDENCE: Final = 48_000
"""The cost of all texts that a judge is sent, by default: about 12,000 tokens of English."""

_OMISSION: Final = " [...] "


def cost(text: str) -> int:
    """The characters of a text as it is sent: in JSON, with non-ASCII characters escaped."""
    return len(encode_basestring_ascii(text)) - 2


def fair_limit(costs: Sequence[int], budget: int) -> int:
    """The highest limit so that the sum of `min(cost, limit)` over all texts is at most `budget`."""
    left = budget
    for rank, each in enumerate(sorted(costs)):
        share = left // (len(costs) - rank)
        if each > share:
            return share
        left -= each
    return max(costs, default=0)


def cut(text: str, limit: int) -> str:
    """The text if its cost is at most `limit`; otherwise its beginning and end."""
    if cost(text) <= limit:
        return text
    half = (limit - len(_OMISSION)) // 2
    head, tail = _fitting(text, half), _fitting(text[::-1], half)
    return text[:head] + _OMISSION + text[len(text) - tail :]


def _fitting(text: str, limit: int) -> int:
    """The number of first characters with a total cost of at most `limit`."""
    first = text[: max(0, limit)]
    if cost(first) == len(first):
        return len(first)
    return sum(1 for _ in takewhile(lambda spent: spent <= limit, accumulate(map(cost, first))))
