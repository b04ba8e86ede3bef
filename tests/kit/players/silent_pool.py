"""Silent strategies for the families in which one seat needs all others: what the answerer says without messages."""

import datetime
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask
from concord_suites.family import TextFamily
from tests.kit.players.silent import Guess


def _own(family: TextFamily, task: SuiteTask, seat: str, *fields: str) -> list[str]:
    """What the seat's brief says in these blanks."""
    return [each[field] for each in family.read(task.briefs[seat]) for field in fields if field in each.fields]


def _numbers(family: TextFamily, task: SuiteTask, seat: str) -> list[int]:
    own = _own(family, task, seat, "reading", "value", "crowns")
    return sorted({int(each) for each in own if each.isdigit()}) or [0]


def _of_numbers(pick: Callable[[Sequence[int]], int]) -> Guess:
    return lambda family, task, seat, _: pick(_numbers(family, task, seat))


def _any_number(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    return draw.choice(_numbers(family, task, seat))


def _number_near(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """A number that begins like one in the brief."""
    return int(str(draw.choice(_numbers(family, task, seat)))[:2] + str(draw.below(1000)).zfill(3))


def _scaled_sum(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """All that the brief says, as if every seat had as much."""
    return sum(_numbers(family, task, seat)) * len(task.seats)


def _all_own(*fields: str) -> Guess:
    return lambda family, task, seat, _: list[JsonValue](sorted(set(_own(family, task, seat, *fields))))


def _highest(count: int) -> Guess:
    return lambda family, task, seat, _: list[JsonValue](_numbers(family, task, seat)[-count:])


def _random_codes(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """The own codes with other digits."""
    return [f"{each[:3]}{draw.between(10_000, 99_999)}" for each in _own(family, task, seat, "value")]


def _most_common(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    return max(Counter(sorted(_own(family, task, seat, "candidate"))).items(), key=lambda each: each[1])[0]


def _least_common(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    return min(Counter(sorted(_own(family, task, seat, "candidate"))).items(), key=lambda each: each[1])[0]


def _sorted_first(field: str) -> Guess:
    return lambda family, task, seat, _: min(_own(family, task, seat, field))


def _any_of(field: str) -> Guess:
    return lambda family, task, seat, draw: draw.choice(_own(family, task, seat, field))


def _own_count_and(others: Callable[[int, Draw], int]) -> Guess:
    """The codes in the brief, and for each other seat as many new ones as the convention says."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        return len(set(_own(family, task, seat, "value"))) + others(len(task.seats) - 1, draw)

    return guess


def _free_day(pick: Callable[[Sequence[str], Draw], str]) -> Guess:
    """A day of the period on which the seat itself is not away."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        asked = family.read(task.question)[0]
        before, after = (datetime.date.fromisoformat(asked[end]) for end in ("before", "after"))
        days = [(before + datetime.timedelta(each)).isoformat() for each in range(1, (after - before).days)]
        away = set(_own(family, task, seat, "value"))
        return pick([day for day in days if day not in away], draw)

    return guess


def _own_auction(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """The winner and the price if there were no other seats."""
    bids = [(int(each["crowns"]), each["bidder"]) for each in family.read(task.briefs[seat]) if "bidder" in each.fields]
    ranked = sorted(bids, reverse=True)
    return {"winner": ranked[0][1], "price": ranked[min(1, len(ranked) - 1)][0]}


def _any_sale(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    return {"winner": draw.choice(_own(family, task, seat, "bidder")), "price": _any_number(family, task, seat, draw)}


def _highest_as_price(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    names = list[JsonValue](sorted(_own(family, task, seat, "bidder")))
    return {"winner": names, "price": max(_numbers(family, task, seat))}


_ONE_NUMBER: Final[tuple[Guess, ...]] = (
    _of_numbers(min),
    _of_numbers(max),
    _of_numbers(sum),
    _of_numbers(lambda numbers: numbers[len(numbers) // 2]),
    _any_number,
    _number_near,
    _scaled_sum,
    lambda *_: 550_000,
)

SILENT: Final[dict[str, tuple[Guess, ...]]] = {
    "maximum": _ONE_NUMBER,
    "count": _ONE_NUMBER,
    "median": _ONE_NUMBER,
    "set-union": (_all_own("value"), _all_own("value", "volume", "slip"), _random_codes, lambda *_: []),
    "majority": (
        _most_common,
        _least_common,
        _sorted_first("candidate"),
        _any_of("candidate"),
        _all_own("candidate"),
    ),
    "top-k": (_highest(2), _highest(3), _highest(4), _all_own("value")),
    "dedupe": (
        _own_count_and(lambda others, _: 0 * others),
        _own_count_and(lambda others, _: 2 * others + 1),
        _own_count_and(lambda others, _: 2 * others + 7),
        _own_count_and(lambda others, _: 3 * others),
        _own_count_and(lambda others, draw: 2 * others + draw.below(14)),
    ),
    "date-intersection": (
        _free_day(lambda days, _: days[0]),
        _free_day(lambda days, _: days[-1]),
        _free_day(lambda days, _: days[len(days) // 2]),
        _free_day(lambda days, draw: draw.choice(days)),
        _any_of("value"),
    ),
    "second-price": (_own_auction, _any_sale, _highest_as_price),
}
