"""Who misled a seat that was told all facts that it needed, and beside them a false value of one."""

from collections.abc import Sequence
from typing import Final

from concord.suite import Value
from concord_evaluator.information.causes import Loss
from concord_evaluator.information.falsehoods import Falsehood, Falsehoods
from concord_evaluator.information.flow import Conveyed
from concord_evaluator.information.losses import Losses

MAX_STANDING: Final = 200
"""False values that stand at one time before a seat, the first ones."""


def misleading(losses: Losses, seat: str, needs: Sequence[str], time: int) -> list[Loss]:
    """Who first stated the false values that stood when a seat answered at `time`, of needed facts of other seats.

    A false value no longer stands when its author has told the seat the right one since. What stands in a brief, or
    follows from what its sender knew, is not false.
    """
    heard = [each for each in losses.flow.messages if _reached(each, seat, time)]
    standing = _standing(losses.falsehoods, heard)
    found = {
        losses.falsehoods.blame(falsehood, need, is_lost=False): None
        for need in needs
        if seat not in losses.facts[need].holders
        for falsehood in standing
        if need in falsehood.about
    }
    return list(found)


def _reached(each: Conveyed, seat: str, time: int) -> bool:
    """Whether a message came to a seat before its turn at a time."""
    return each.message.delivered and each.message.receiver == seat and each.message.time < time


def _standing(falsehoods: Falsehoods, heard: Sequence[Conveyed]) -> Sequence[Falsehood]:
    """The false values that were told and not taken back."""
    standing = dict[tuple[str, Value], Falsehood]()
    for each in heard:
        if standing and each.facts:
            standing = {key: one for key, one in standing.items() if not falsehoods.is_taken_back(one, each)}
        for one in falsehoods.told_in(each):
            if len(standing) < MAX_STANDING and not (one.is_corrected and falsehoods.origin(one) == one):
                standing[each.message.sender, one.value] = one
    return list(standing.values())
