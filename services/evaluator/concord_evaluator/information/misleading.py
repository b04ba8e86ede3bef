"""Who misled a seat that was told all facts that it needed, and was told something else after them."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

from concord.suite import Value
from concord_evaluator.information.causes import Cause, Loss
from concord_evaluator.information.flow import Conveyed
from concord_evaluator.information.losses import Losses

MAX_STRANGE: Final = 1_000
"""Unknown values that a seat was told, of which the origin is looked for."""


def misleading(losses: Losses, seat: str, needs: Sequence[str], time: int) -> list[Loss]:
    """The first to state a value that the seat was told last before its answer, and that is not the fact's.

    A value that stands in a brief, or follows from what its sender knew, misleads nobody.
    """
    heard = [each for each in losses.flow.messages if _reached(each, seat, time)]
    found: dict[Loss, None] = {}
    for need in _contradicted_last(heard, needs):
        found[_origin(losses, losses.first_contradicting[need], [need])] = None
    for value in islice(_strange_to_the_end(heard), MAX_STRANGE):
        if meant := [need for need in needs if losses.may_stand_for(value, need)]:
            found[_origin(losses, losses.first_strange[value], meant)] = None
    return list(found)


def _reached(each: Conveyed, seat: str, time: int) -> bool:
    """Whether a message came to a seat before its turn at a time."""
    return each.message.delivered and each.message.receiver == seat and each.message.time < time


def _contradicted_last(heard: Iterable[Conveyed], needs: Sequence[str]) -> list[str]:
    """The facts of which the last message about them states another value."""
    last: dict[str, bool] = {}
    for each in heard:
        last |= dict.fromkeys(each.stated.contradicted, True)
        last |= dict.fromkeys(each.facts, False)
    return [need for need in needs if last.get(need)]


def _strange_to_the_end(heard: Sequence[Conveyed]) -> list[Value]:
    """The unknown values that nobody took back: whose last teller told no facts after them."""
    facts_told: Mapping[str, int] = {each.message.sender: at for at, each in enumerate(heard) if each.facts}
    last = {value: (at, each.message.sender) for at, each in enumerate(heard) for value in each.strange}
    return [value for value, (at, teller) in last.items() if facts_told.get(teller, -1) <= at]


def _origin(losses: Losses, first: Conveyed, about: Iterable[str]) -> Loss:
    """How a wrong value came about, by its first message: as a change, as a second value, or out of nothing."""
    sender = first.message.sender
    for need in about:
        if need not in losses.flow.known.get(sender, {}):
            continue
        told, changed = losses.told(sender, need)
        if any(each.message.time < first.message.time for each in told):
            return Loss(Cause.CONTRADICTED, (sender,), first.message.step_id)
        if changed is not None:
            return Loss(Cause.CHANGED, (sender,), changed)
    return Loss(Cause.INVENTED, (sender,), first.message.step_id)
