"""Silent strategies for the families in which all answers must fit together: what a seat answers without messages."""

from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask, distances
from concord_suites.family import TextFamily
from tests.kit.players.silent import Guess


def _own(family: TextFamily, task: SuiteTask, seat: str, field: str, *statements: str) -> list[str]:
    """What a field of the seat's own brief says, sorted, in the given statements (all if none is given)."""
    records = family.read(task.briefs[seat])
    found = {
        each[field] for each in records if field in each.fields and each.statement in (statements or [each.statement])
    }
    return sorted(found)


def _layer(task: SuiteTask, seat: str) -> int:
    return distances(task.neighbours, task.seats[0])[seat]


def _lowest(field: str, *statements: str) -> Guess:
    return lambda family, task, seat, _: _own(family, task, seat, field, *statements)[0]


def _highest(field: str, *statements: str) -> Guess:
    return lambda family, task, seat, _: _own(family, task, seat, field, *statements)[-1]


def _any_of(field: str, *statements: str) -> Guess:
    return lambda family, task, seat, draw: draw.choice(_own(family, task, seat, field, *statements))


def _by_layer(field: str, *statements: str) -> Guess:
    """By convention, each distance from the first seat takes another place of its sorted list."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
        own = _own(family, task, seat, field, *statements)
        return own[_layer(task, seat) % len(own)]

    return guess


def _always(answer: JsonValue) -> Guess:
    return lambda *_: answer


def _like_own(task: SuiteTask, family: TextFamily, seat: str, draw: Draw) -> str:
    """A number that begins like one that the seat holds."""
    return draw.choice(_own(family, task, seat, "number"))[:3] + str(draw.between(0, 999)).zfill(3)


def _number_or(word: str) -> Guess:
    """By convention, seats at even distances from the first seat name a number, and the others say the word."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        return word if _layer(task, seat) % 2 else _like_own(task, family, seat, draw)

    return guess


def _coin_or(word: str) -> Guess:
    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        return word if draw.chance(0.5) else _like_own(task, family, seat, draw)

    return guess


def _all_numbers(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    return _like_own(task, family, seat, draw)


def _leader_of_own_hours(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """The own badge if its hours may be enough, else any name in the brief."""
    own = _own(family, task, seat, "badge", "rank", "rank on a slip")[0]
    enough = any(int(each) > 50_000 for each in _own(family, task, seat, "number", "hours", "slip"))
    return own if enough else _any_of("badge")(family, task, seat, draw)


def _on_links(word: str) -> tuple[Guess, ...]:
    return (
        _always(word),
        _always("100000"),
        _all_numbers,
        _number_or(word),
        _coin_or(word),
        _lowest("number"),
        _any_of("number"),
    )


_SHADES: Final = ("number", "shade", "slip")
_CHANNELS: Final = ("number", "proposal", "slip")

SILENT: Final[dict[str, tuple[Guess, ...]]] = {
    "consensus": (_lowest("number"), _highest("number"), _any_of("number"), _any_of(*_CHANNELS), _always("50050")),
    "leader-election": (
        _lowest("badge"),
        _any_of("badge"),
        _lowest("badge", "rank", "rank on a slip"),
        _leader_of_own_hours,
    ),
    "colouring": (_lowest(*_SHADES), _highest(*_SHADES), _any_of(*_SHADES), _by_layer(*_SHADES), _always("5000000")),
    "maximal-matching": _on_links("none"),
    "minimal-vertex-cover": _on_links("out"),
}
