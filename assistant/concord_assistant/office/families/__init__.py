"""The families of errands: each is a function that plants an errand in an office."""

from collections.abc import Callable, Mapping
from typing import Final

from concord_assistant.office.families.ambiguities import impossible, namesakes
from concord_assistant.office.families.invitations import counter_offer, move, rsvp
from concord_assistant.office.families.modalities import expenses, pass_on, travel
from concord_assistant.office.families.orders import called_off, flaky, order, sold_out
from concord_assistant.office.families.searches import current, earliest
from concord_assistant.office.families.secrecy import asked_for_more, payee
from concord_assistant.office.families.waiting import deputy, embargo
from concord_assistant.office.plan import Errand
from concord_assistant.office.world import Office

ErrandFamily = Callable[[Office], Errand]

FAMILIES: Final[Mapping[str, ErrandFamily]] = {
    "order": order,
    "move": move,
    "rsvp": rsvp,
    "expenses": expenses,
    "earliest": earliest,
    "current": current,
    "pass_on": pass_on,
    "travel": travel,
    "namesakes": namesakes,
    "impossible": impossible,
    "sold_out": sold_out,
    "counter_offer": counter_offer,
    "called_off": called_off,
    "embargo": embargo,
    "deputy": deputy,
    "flaky": flaky,
    "asked_for_more": asked_for_more,
    "payee": payee,
}
"""By name. An office can hold one errand of each family."""
