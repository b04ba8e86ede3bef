"""What every modality's state has: when it was last changed and how often."""

from datetime import datetime
from typing import Final

from concord_environment.core.clock import EPOCH
from concord_environment.core.rows import row
from concord_environment.core.tables import Table
from concord_environment.modalities.fields import Moment

SELF: Final = "self"
"""The key of the only row of a table that holds what there is one of."""


@row
class Upkeep:
    """When a modality was last changed, and by how many actions."""

    last_updated: Moment
    update_count: int = 0

    def touched(self, at: datetime) -> "Upkeep":
        """After one more action."""
        return Upkeep(at, self.update_count + 1)


UNTOUCHED: Final = Upkeep(EPOCH)


def upkeep_table() -> Table[Upkeep]:
    """The table of every modality's upkeep, by modality."""
    # When it was is in the chain of hashes by the clock.
    return Table("upkeep", Upkeep, digest=lambda upkeep: b"%d" % upkeep.update_count)
