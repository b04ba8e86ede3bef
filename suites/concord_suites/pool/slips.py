"""Values that a brief states at once, or on a slip that another of its sentences names."""

from dataclasses import dataclass
from typing import Final

from concord.suite import Draw
from concord_suites.family import Setting
from concord_suites.grammar import Fresh, Record, Statement

FIRST_DIFFICULTY: Final = 4
"""From this difficulty on, half of the values stand on slips."""


def slip(kind: str) -> Statement:
    """The statement of what a slip says, with the blanks `slip` and `value`. `kind` is the type of the latter."""
    wordings = (
        "Slip {slip:code} says {value:_}.",
        "On slip {slip:code} stands {value:_}.",
        "{value:_} is written on slip {slip:code}.",
        "Slip {slip:code} reads {value:_}.",
    )
    return Statement("slip", tuple(wording.replace("{value:_}", f"{{value:{kind}}}") for wording in wordings))


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement with the blank `value`, and one of the same meaning that has the blank `slip` instead."""

    direct: Statement
    by_slip: Statement
    slip: Statement

    @property
    def statements(self) -> tuple[Statement, ...]:
        """All that has to be in the grammar."""
        return (self.direct, self.by_slip, self.slip)

    def write(self, draw: Draw, fresh: Fresh, difficulty: int, *, value: str | int, **fields: str) -> list[str]:
        """The sentences that state the value: one, or two with a slip."""
        if difficulty < FIRST_DIFFICULTY or draw.chance(0.5):
            return [self.direct.write(draw, value=value, **fields)]
        number = fresh.code()
        return [self.by_slip.write(draw, slip=number, **fields), self.slip.write(draw, slip=number, value=value)]

    def stated(self, setting: Setting) -> list[tuple[str, Record]]:
        """Every occurrence in the briefs with its value, and the seat that it was told to."""
        values = {(seat, record["slip"]): record["value"] for seat, record in setting.stated(self.slip.name)}
        return setting.stated(self.direct.name) + [
            (seat, Record(self.direct.name, {**record.fields, "value": values[seat, record["slip"]]}))
            for seat, record in setting.stated(self.by_slip.name)
        ]
