"""Values that a brief states at once, or by reference to a slip that another of its sentences quotes."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from concord.suite import Draw
from concord_suites.family import Setting
from concord_suites.grammar import Fresh, Record, Statement

FIRST_DIFFICULTY: Final = 4
"""From this difficulty on, half of the values stand on slips."""


@dataclass(frozen=True)
class ReferableStatement:
    """A statement, and one of the same meaning that has the blank `slip` in the place of one other blank."""

    direct: Statement
    by_reference: Statement

    @cached_property
    def blank(self) -> str:
        """The blank that a slip fills."""
        [blank] = self.direct.blanks.keys() - self.by_reference.blanks.keys()
        return blank

    @cached_property
    def definition(self) -> Statement:
        """The statement of the value on a slip."""
        value = f"{{{self.blank}:{self.direct.blanks[self.blank]}}}"
        return Statement(
            "slip",
            (
                f"Slip {{slip:code}} says {value}.",
                f"On slip {{slip:code}} stands {value}.",
                f"{value} is written on slip {{slip:code}}.",
                f"Slip {{slip:code}} reads {value}.",
            ),
        )

    def write(self, draw: Draw, fresh: Fresh, difficulty: int, **fields: str | int) -> list[str]:
        """The sentences that state the fields: one, or two with a slip."""
        if difficulty < FIRST_DIFFICULTY or draw.chance(0.5):
            return [self.direct.write(draw, **fields)]
        value, slip = fields.pop(self.blank), fresh.code()
        return [
            self.by_reference.write(draw, slip=slip, **fields),
            self.definition.write(draw, slip=slip, **{self.blank: value}),
        ]

    def stated(self, setting: Setting) -> list[tuple[str, Record]]:
        """Every occurrence in the briefs with its value, and the seat that it was told to."""
        values = {(seat, record["slip"]): record[self.blank] for seat, record in setting.stated(self.definition.name)}
        return setting.stated(self.direct.name) + [
            (seat, Record(self.direct.name, {**record.fields, self.blank: values[seat, record["slip"]]}))
            for seat, record in setting.stated(self.by_reference.name)
        ]

    def numbers(self, setting: Setting) -> dict[str, list[int]]:
        """The numbers that each seat's brief states, sorted."""
        found: dict[str, list[int]] = {seat: [] for seat in setting.briefs}
        for seat, record in self.stated(setting):
            found[seat].append(record.number(self.blank))
        return {seat: sorted(numbers) for seat, numbers in found.items()}


def grammar_of(*statements: ReferableStatement) -> Sequence[Statement]:
    """All statements of these, each once: they share what slips of one kind say."""
    return tuple(dict.fromkeys(each for one in statements for each in (one.direct, one.by_reference, one.definition)))
