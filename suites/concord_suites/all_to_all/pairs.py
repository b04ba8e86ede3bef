"""Two different items at random."""

from collections.abc import Sequence

from concord.suite import Draw


def drawn_pair(draw: Draw, items: Sequence[str]) -> tuple[str, str]:
    """Two different ones of `items`, with two draws. `Draw.sample` takes as many draws as there are items."""
    first = draw.below(len(items))
    return items[first], items[(first + 1 + draw.below(len(items) - 1)) % len(items)]
