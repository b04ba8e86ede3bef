"""Silent strategies for the families of the pipeline: what a seat answers without messages."""

from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask
from concord_suites.family import TextFamily
from concord_suites.grammar import StatedRecord
from tests.kit.players.silent import Guess


def _brief(family: TextFamily, task: SuiteTask, seat: str) -> list[StatedRecord]:
    return family.read(task.briefs[seat])


def _numbers(family: TextFamily, task: SuiteTask, seat: str) -> list[int]:
    """The numbers of five digits and more in the seat's own brief, sorted."""
    fields = [text for each in _brief(family, task, seat) for text in each.fields.values()]
    return sorted(int(text) for text in fields if text.isdigit() and len(text) > 4) or [0]


def _asked(family: TextFamily, task: SuiteTask, field: str) -> list[str]:
    return [each[field] for each in family.read(task.question) if field in each.fields and len(each.fields) == 1]


def always(answer: JsonValue) -> Guess:
    """The same answer from every seat, by convention."""
    return lambda *_: answer


def own_lowest(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """The lowest number in the seat's own brief."""
    return _numbers(family, task, seat)[0]


def own_highest(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """The highest number in the seat's own brief."""
    return _numbers(family, task, seat)[-1]


def any_own(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """Any number in the seat's own brief."""
    return draw.choice(_numbers(family, task, seat))


def _sum_of_own(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    return sum(_numbers(family, task, seat))


def _any_for_each(field: str) -> Guess:
    """Any own number for each name of the question."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        own = _numbers(family, task, seat)
        return {name: draw.choice(own) for name in _asked(family, task, field)}

    return guess


def _all_for_each(field: str) -> Guess:
    """All own numbers for each name of the question."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
        own = ", ".join(map(str, _numbers(family, task, seat)))
        return dict.fromkeys(_asked(family, task, field), own)

    return guess


def _own_legs(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """For each stop, the fare of an own leg that ends there, or the sum of all own fares."""
    fares = {each["goal"]: int(each["number"]) for each in _brief(family, task, seat) if each.statement == "leg"}
    return {stop: fares.get(stop, sum(fares.values())) for stop in _asked(family, task, "stop")}


def _own_parts(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """The parts of the key that the seat holds itself, at their places."""
    [many] = _asked(family, task, "parts")
    own = {int(each["place"]): int(each["number"]) for each in _brief(family, task, seat) if each.statement == "part"}
    return [own.get(place, 0) for place in range(1, int(many) + 1)]


def _own_everywhere(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    [many] = _asked(family, task, "parts")
    return [draw.choice(_numbers(family, task, seat))] * int(many)


SILENT: Final[dict[str, tuple[Guess, ...]]] = {
    "prefix-sums": (own_lowest, own_highest, any_own, _sum_of_own, always(50_000)),
    "relay": (own_lowest, own_highest, any_own, _sum_of_own, always(500_000)),
    "distributed-sort": (own_lowest, own_highest, any_own, always(50_000)),
    "joined-tables": (_any_for_each("reader"), _all_for_each("reader")),
    "route": (_any_for_each("stop"), _all_for_each("stop"), _own_legs),
    "key-assembly": (_own_parts, _own_everywhere, always([0])),
}
