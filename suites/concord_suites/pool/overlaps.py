"""Lists that overlap: several seats hold the same item."""

from collections.abc import Mapping, Sequence
from typing import TypeVar

from concord.suite import Draw

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
