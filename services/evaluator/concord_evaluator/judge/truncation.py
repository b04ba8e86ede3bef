"""The budget of what a model is sent: how much each text may take of it, and what is left of one that takes more."""

import json
from collections.abc import Sequence
from itertools import accumulate, takewhile
from typing import Final

_OMISSION: Final = " [...] "


def cost(text: str) -> int:
    """The characters that a text takes as it is sent: in JSON, other scripts escaped."""
    return len(json.dumps(text)) - 2


def fair_limit(costs: Sequence[int], budget: int) -> int:
    """The highest limit under which texts of these costs stay within the budget, each cut to it if it takes more."""
    left = budget
    for rank, each in enumerate(sorted(costs)):
        share = left // (len(costs) - rank)
        if each > share:
            return share
        left -= each
    return max(costs, default=0)


def cut(text: str, limit: int) -> str:
    """The text if it costs no more than `limit`, else its two ends."""
    if cost(text) <= limit:
        return text
    half = (limit - len(_OMISSION)) // 2
    head, tail = _that_fit(text, half), _that_fit(text[::-1], half)
    return text[:head] + _OMISSION + text[len(text) - tail :]


def _that_fit(text: str, limit: int) -> int:
    """How many of the first characters cost no more than `limit`."""
    return sum(1 for _ in takewhile(lambda spent: spent <= limit, accumulate(map(cost, text[: max(0, limit)]))))
