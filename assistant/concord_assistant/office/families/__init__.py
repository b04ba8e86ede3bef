"""The families of errands: each is a function that plants an errand in an office."""

from collections.abc import Callable, Mapping
from typing import Final

from concord_assistant.office.families.ambiguities import impossible, namesakes
from concord_assistant.office.families.invitations import move, rsvp
from concord_assistant.office.families.modalities import expenses, pass_on, travel
from concord_assistant.office.families.orders import order
from concord_assistant.office.families.searches import current, earliest
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
}
"""By name. An office can hold one errand of each family."""
