"""Draws that several families share: pairs, free days, and overlapping lists."""

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from concord.suite import Draw, Fact, Kind, Value

# Two different items at random.


def drawn_pair(draw: Draw, items: Sequence[str]) -> tuple[str, str]:
    """Two different ones of `items`, with two draws. `Draw.sample` takes as many draws as there are items."""
    first = draw.below(len(items))
    return items[first], items[(first + 1 + draw.below(len(items) - 1)) % len(items)]


# Busy days that follow from the free days of a period.


def busy_by_free_days(period: Collection[str], known: Collection[Fact], stated: Collection[Value]) -> frozenset[str]:
    """The ids of known busy days that follow from stated free ones: all other days of the period (ISO dates).

    They follow only if each of them is known. So who names only the day on which all are free tells nothing.
    """
    free = {value.text for value in stated if value.kind is Kind.DATE}.intersection(period)
    busy = set(period) - free
    if not free or not busy <= {fact.value.text for fact in known}:
        return frozenset()
    return frozenset(fact.id for fact in known if fact.value.text in busy)


# Lists that overlap: several seats hold the same item.

T = TypeVar("T")


def dealt(draw: Draw, items: Sequence[T], seats: Sequence[str]) -> dict[str, list[T]]:
    """Deals items to seats in turn, in a random order of both."""
    order, hands = draw.shuffled(seats), {seat: list[T]() for seat in seats}
    for place, item in enumerate(draw.shuffled(items)):
        hands[order[place % len(order)]].append(item)
    return hands


def with_copies(draw: Draw, hands: Mapping[str, Sequence[T]], copies: int) -> dict[str, list[T]]:
    """Gives each seat copies of items of others. Each seat's first item is copied to nobody, so that it must send it.

    A seat gets fewer copies where the others have fewer items to copy.
    """
    found = dict[str, list[T]]()
    for seat, hand in hands.items():
        others = [item for other, items in hands.items() if other != seat for item in items[1:]]
        found[seat] = [*hand, *draw.sample(others, min(copies, len(others)))]
    return found


def holders(hands: Mapping[str, Sequence[T]]) -> dict[T, tuple[str, ...]]:
    """By item, the seats that hold it."""
    found = dict[T, list[str]]()
    for seat, items in hands.items():
        for item in items:
            found.setdefault(item, []).append(seat)
    return {item: tuple(seats) for item, seats in found.items()}
