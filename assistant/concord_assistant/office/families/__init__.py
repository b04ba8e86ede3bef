"""The families of errands: each is a function that plants an errand in an office."""

from collections.abc import Callable, Mapping
from typing import Final

from concord_assistant.office.families.invitations import rsvp
from concord_assistant.office.families.orders import order
from concord_assistant.office.plan import Errand
from concord_assistant.office.world import Office

ErrandFamily = Callable[[Office], Errand]

FAMILIES: Final[Mapping[str, ErrandFamily]] = {"order": order, "rsvp": rsvp}
"""By name. An office can hold one errand of each family."""
