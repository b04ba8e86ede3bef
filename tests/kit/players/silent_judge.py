"""Silent strategies for the families in which statements mislead: what a seat answers without messages."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask
from concord_suites.family import TextFamily
from tests.kit.players.silent import Guess

Pick = Callable[[Sequence[str], Draw], str]
"""One of some values, which a brief may state several times."""


def _first(values: Sequence[str], _: Draw) -> str:
    return min(values, default="")


def _last(values: Sequence[str], _: Draw) -> str:
    return max(values, default="")


def _any_of(values: Sequence[str], draw: Draw) -> str:
    return draw.choice(sorted(set(values))) if values else ""


def _most_stated(values: Sequence[str], _: Draw) -> str:
    return max(sorted(set(values)), key=values.count, default="")


def _least_stated(values: Sequence[str], _: Draw) -> str:
    return min(sorted(set(values)), key=values.count, default="")


def _but_the_most_stated(pick: Pick) -> Pick:
    def picked(values: Sequence[str], draw: Draw) -> str:
        return pick([each for each in values if each != _most_stated(values, draw)], draw)

    return picked


def _own(field: str, pick: Pick, *statements: str) -> Guess:
    """What a field of the seat's own brief says in the given statements (all if none is given)."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        records = family.read(task.briefs[seat])
        return pick(
            [
                each[field]
                for each in records
                if field in each.fields and each.statement in (statements or [each.statement])
            ],
            draw,
        )

    return guess


def _all_of(field: str) -> Guess:
    """All that a field of the seat's own brief says."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
        return ", ".join(sorted({each[field] for each in family.read(task.briefs[seat]) if field in each.fields}))

    return guess


def _best_rated(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """A depth by the surveyor with the most points in the brief, if one of its surveyors reports anything there."""
    records = family.read(task.briefs[seat])
    points = {each["surveyor"]: each.number("points") for each in records if "points" in each.fields}
    depths = [
        (points.get(each["surveyor"], 0), each["depth"])
        for each in records
        if {"surveyor", "depth"} <= each.fields.keys()
    ]
    return max(depths, default=(0, ""))[1]


def _worths(pick: Callable[[Sequence[tuple[str, int]], Draw], int]) -> Guess:
    """One of the dated worths in the seat's own brief, for each painting of the question."""

    def guess(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
        records = family.read(task.briefs[seat])
        dates = {each["certificate"]: each["date"] for each in records if {"certificate", "date"} <= each.fields.keys()}
        found: dict[str, list[tuple[str, int]]] = {}
        for each in records:
            if "worth" in each.fields:
                date = each.fields.get("date") or dates[each["certificate"]]
                found.setdefault(each["painting"], []).append((date, each.number("worth")))
        asked = [each["painting"] for each in family.read(task.question) if "painting" in each.fields]
        return {painting: pick(found.get(painting, [("", 50_000)]), draw) for painting in asked}

    return guess


def _most_own_signs(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """The fault in the brief that has the most of the signs in the brief's entries."""
    records = family.read(task.briefs[seat])
    signs = Counter(each["sign"] for each in records if "sign" in each.fields)
    faults = [each for each in records if "fault" in each.fields]
    return (
        max((sum(signs[sign] for sign in each.fields.values()), each["fault"]) for each in faults)[1] if faults else ""
    )


def _always(answer: JsonValue) -> Guess:
    return lambda *_: answer


def _letters(pick: Pick) -> Guess:
    return _own("candidate", pick, "letter", "letter in a bundle")


ANY_BUT_THE_FAVOURITE: Final = _letters(_but_the_most_stated(_any_of))
"""The best that a silent seat can do about candidates."""

SILENT: Final[dict[str, tuple[Guess, ...]]] = {
    "hidden-profile": (
        _letters(_most_stated),
        _letters(_least_stated),
        _letters(_first),
        _letters(_any_of),
        _letters(_but_the_most_stated(_first)),
        _letters(_but_the_most_stated(_last)),
        ANY_BUT_THE_FAVOURITE,
        _letters(_but_the_most_stated(_most_stated)),
        _own("candidate", _but_the_most_stated(_most_stated)),
        _own("candidate", _but_the_most_stated(_least_stated)),
        _all_of("candidate"),
    ),
    "reliability": (
        _best_rated,
        _own("depth", _first, "report", "report of a boat"),
        _own("depth", _last, "report", "report of a boat"),
        _own("depth", _any_of),
        _own("points", _last),
        _all_of("depth"),
        _always("50000"),
    ),
    "stale-fact": (
        _worths(lambda dated, _: max(dated)[1]),
        _worths(lambda dated, _: min(dated)[1]),
        _worths(lambda dated, draw: draw.choice(dated)[1]),
        _worths(lambda dated, _: max(worth for _, worth in dated)),
        _worths(lambda *_: 50_000),
    ),
    "suspect-statement": (
        _own("witness", _first),
        _own("witness", _first, "claim"),
        _own("witness", _any_of),
        _own("convoy", _most_stated),
        _all_of("witness"),
        _always("none"),
    ),
    "diagnosis": (
        _own("fault", _first),
        _own("fault", _last),
        _own("fault", _any_of),
        _most_own_signs,
        _all_of("fault"),
        _always("unknown"),
    ),
}
