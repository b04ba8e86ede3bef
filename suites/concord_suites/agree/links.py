"""Private links between neighbours: two neighbours are linked if they hold numbers of one series."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Final, TypeAlias

from pydantic import JsonValue

from concord.suite import Answers, Bound, Draw, Neighbours, SuiteTask
from concord.suite.number_text import plain_numbers
from concord_suites.answers import committed, numbers_in, read_each, words_in
from concord_suites.family import ReferableStatement, Setting, TextFamily
from concord_suites.grammar import Fresh

MOST_LINKING: Final = 3
"""The most linking numbers of a seat. Further neighbours link by a series that it already holds."""

SERIES_SIZE: Final = 1_000
"""Numbers of six digits are of one series if their first three digits agree."""

UNLINKED: Final = 0.25
"""The part of the seats that look for no neighbour to be linked with; some of these stay without links."""

Fits: TypeAlias = Mapping[str, Mapping[int, str]]
"""For each seat, the numbers of its neighbours that are of a series of its own, and whose they are."""


class LinkFamily(TextFamily):
    """A family on private links. Its seats can be right in many ways, so bounds that hold for all ways are low."""

    held: ClassVar[ReferableStatement]
    """States a number that a seat holds."""

    def fits(self, setting: Setting) -> Fits:
        """The links of all seats."""
        return fits(self.held.numbers(setting), setting.neighbours)

    def generate(self, secret: bytes, neighbours: Neighbours, difficulty: int) -> SuiteTask:
        """The task of a secret, as `concord.suite.Family` says."""
        task = super().generate(secret, neighbours, difficulty)
        receivers = len({part.seat for part in task.parts})
        return replace(
            task,
            fewest_messages=Bound(
                receivers, False, "each graded seat must learn of a neighbour that it is linked with"
            ),
            fewest_rounds=Bound(2, False, "a neighbour's facts arrive in the first round, and an answer can follow"),
        )


def draw_held(draw: Draw, fresh: Fresh, neighbours: Neighbours, difficulty: int) -> dict[str, list[int]]:
    """The numbers of each seat, equally many for each. At least two seats are linked; some seats may not be."""
    series: dict[str, list[int]] = {seat: [] for seat in neighbours}
    for at, seat in enumerate(draw.shuffled(list(neighbours))):
        if at > 0 and draw.chance(UNLINKED):
            continue
        for _ in range(draw.between(1, 2)):
            other = draw.choice(neighbours[seat])
            if set(series[seat]) & set(series[other]):
                continue
            if len(series[other]) < MOST_LINKING:
                series[other].append(fresh.number(100, 999))
            series[seat].append(draw.choice(series[other]))
    most = MOST_LINKING + 2 + difficulty // 2
    return {
        seat: [
            fresh.number(each * SERIES_SIZE, each * SERIES_SIZE + SERIES_SIZE - 1)
            for each in [*held, *(fresh.number(100, 999) for _ in range(most - len(held)))]
        ]
        for seat, held in series.items()
    }


def fits(held: Mapping[str, Sequence[int]], neighbours: Neighbours) -> Fits:
    """The links that numbers make."""
    series = {seat: {each // SERIES_SIZE for each in numbers} for seat, numbers in held.items()}
    return {
        seat: {each: other for other in others for each in held[other] if each // SERIES_SIZE in series[seat]}
        for seat, others in neighbours.items()
    }


def lookalike(draw: Draw, fresh: Fresh, held: Mapping[str, Sequence[int]]) -> int:
    """A number that nobody holds, of a series that somebody holds."""
    first = draw.choice(held[draw.choice(list(held))]) // SERIES_SIZE * SERIES_SIZE
    return fresh.number(first, first + SERIES_SIZE - 1)


def fits_in_json(found: Fits) -> JsonValue:
    """The links as a part of a key. Seats without links are left out."""
    return {seat: {str(each): other for each, other in others.items()} for seat, others in found.items() if others}


def fits_of_json(value: JsonValue) -> Fits:
    """The links that a part of a key holds."""
    seats = value if isinstance(value, dict) else {}
    return {
        seat: {int(each): str(other) for each, other in others.items()}
        for seat, others in seats.items()
        if isinstance(others, dict)
    }


def read_choices(answers: Answers, seats: Collection[str], word: str) -> tuple[dict[str, int | None], tuple[str, ...]]:
    """The number that each seat names, None where it says `word` instead; and the seats with unreadable answers."""
    return read_each(answers, seats, lambda answer: _choice(answer, word))


def _choice(answer: JsonValue, word: str) -> int | None:
    text = plain_numbers(str(answer))
    return committed(text, [*((None, start, end) for _, start, end in words_in(text, (word,))), *numbers_in(text)])
