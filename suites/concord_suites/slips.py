"""Numbers that a brief states at once, or on a slip that another of its sentences names."""

from dataclasses import dataclass
from typing import Final

from concord.suite import Draw
from concord_suites.family import Setting
from concord_suites.grammar import Fresh, Record, Statement

FIRST_DIFFICULTY: Final = 4
"""From this difficulty on, half of the numbers stand on slips."""

SLIP: Final = Statement(
    "slip",
    (
        "Slip {slip:code} says {number:number}.",
        "On slip {slip:code} stands {number:number}.",
        "{number:number} is written on slip {slip:code}.",
        "The number on slip {slip:code} is {number:number}.",
    ),
)


@dataclass(frozen=True, slots=True)
class Noted:
    """A statement with the blank `number`, and one of the same meaning that has the blank `slip` instead."""

    direct: Statement
    by_slip: Statement

    def write(self, draw: Draw, fresh: Fresh, difficulty: int, *, number: int, **fields: str | int) -> list[str]:
        """The sentences that state the number: one, or two with a slip."""
        if difficulty < FIRST_DIFFICULTY or draw.chance(0.5):
            return [self.direct.write(draw, number=number, **fields)]
        slip = fresh.code()
        return [self.by_slip.write(draw, slip=slip, **fields), SLIP.write(draw, slip=slip, number=number)]

    def stated(self, setting: Setting) -> list[tuple[str, Record]]:
        """Every occurrence in the briefs with its number, and the seat that it was told to."""
        numbers = {(seat, slip["slip"]): slip["number"] for seat, slip in setting.stated(SLIP.name)}
        return setting.stated(self.direct.name) + [
            (seat, Record(self.direct.name, {**record.fields, "number": numbers[seat, record["slip"]]}))
            for seat, record in setting.stated(self.by_slip.name)
        ]

    def numbers(self, setting: Setting) -> dict[str, list[int]]:
        """The numbers that each seat's brief states, sorted."""
        found: dict[str, list[int]] = {seat: [] for seat in setting.briefs}
        for seat, record in self.stated(setting):
            found[seat].append(record.number("number"))
        return {seat: sorted(numbers) for seat, numbers in found.items()}
