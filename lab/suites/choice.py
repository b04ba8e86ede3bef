"""The choice of items for a manifest: as much information as possible where a test has least of it."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

import numpy as np

from concord.suite import Group
from lab.suites.items import Item
from lab.suites.response_model import Floats, ResponseModel

CHOSEN: Final = 24
LEAST_OF_GROUP: Final = 4
"""Items of each group of families. A family has one item at most."""

RANGE: Final = (5, 95)
"""Percentiles of the population's abilities between which a manifest is to inform."""

_POINTS: Final = 9


def ability_range(model: ResponseModel) -> Floats:
    """Abilities over the whole range, evenly spaced."""
    low, high = np.percentile(model.abilities, RANGE)
    return np.linspace(low, high, _POINTS)


def chosen_items(items: Sequence[Item], model: ResponseModel) -> list[Item]:
    """`CHOSEN` items for the highest sum of the logarithms of information over the range, one after the other.

    The logarithm makes each item count most where little is known yet. Then items are exchanged while that helps.
    """
    informs = model.information(ability_range(model)).T
    chosen: list[int] = []
    while len(chosen) < CHOSEN:
        total = informs[chosen].sum(axis=0)
        open_to = [at for at in range(len(items)) if _fits(items, chosen, at)]
        chosen.append(max(open_to, key=lambda at: _worth(total + informs[at])))
    improved = True
    while improved:
        improved = False
        for place, old in enumerate(chosen):
            rest = chosen[:place] + chosen[place + 1 :]
            total = informs[rest].sum(axis=0)
            best = max(
                (at for at in range(len(items)) if _fits(items, rest, at)), key=lambda at: _worth(total + informs[at])
            )
            if _worth(total + informs[best]) > _worth(total + informs[old]) + 1e-9:
                chosen[place], improved = best, True
    return sorted(items[at] for at in chosen)


def _worth(total: Floats) -> float:
    return float(np.log(total + 1e-12).sum())


def _fits(items: Sequence[Item], chosen: Sequence[int], at: int) -> bool:
    """Whether an item may be added, so that each group still gets its least number."""
    if any(items[other].family == items[at].family for other in chosen):
        return False
    groups = Counter(items[each].group for each in [*chosen, at])
    missing = sum(max(0, LEAST_OF_GROUP - groups[group]) for group in Group)
    return missing <= CHOSEN - len(chosen) - 1
