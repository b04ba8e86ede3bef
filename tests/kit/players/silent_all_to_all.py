"""Silent strategies for the families in which every seat needs several others: what it answers without messages."""

import datetime
from itertools import combinations
from typing import Final

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask
from concord_suites.family import Setting, TextFamily
from tests.kit.players.silent import Guess
from tests.kit.players.silent_pipeline import always, any_own


def _own(family: TextFamily, task: SuiteTask, seat: str, *fields: str) -> list[str]:
    """What these fields say in the statements of the seat's own brief, sorted."""
    records = family.read(task.briefs[seat])
    return sorted({each[field] for each in records for field in fields if field in each.fields})


def _any_of(*fields: str) -> Guess:
    return lambda family, task, seat, draw: draw.choice(_own(family, task, seat, *fields) or ["none"])


def _all_of(*fields: str) -> Guess:
    return lambda family, task, seat, _: list[JsonValue](_own(family, task, seat, *fields))


def _as_if_alone(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """What the own brief alone would lead to."""
    setting = Setting(family.read(task.question), {seat: family.read(task.briefs[seat])}, {seat: task.neighbours[seat]})
    try:
        return family.solve(setting).get(seat)
    except (LookupError, ValueError):
        return None


def _straight(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    """From the start to the goal over all own places, in order, with the sum of the own lengths."""
    [question] = [each for each in family.read(task.question) if each.statement == "question"]
    ends = [question["start"], question["goal"]]
    between = [place for place in _own(family, task, seat, "a", "b") if place not in ends]
    length = sum(map(int, _own(family, task, seat, "number")))
    return {"length": length, "places": [ends[0], *between, ends[1]]}


def _two_ends(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    [question] = [each for each in family.read(task.question) if each.statement == "question"]
    return {"length": any_own(family, task, seat, draw), "places": [question["start"], question["goal"]]}


def _open_days(family: TextFamily, task: SuiteTask, seat: str) -> list[str]:
    """The days of the season on which the seat itself is not away."""
    [question] = [each for each in family.read(task.question) if each.statement == "question"]
    first, last = (datetime.date.fromisoformat(question[end]) for end in ("first", "last"))
    own = _own(family, task, seat, "day")
    days = ((first + datetime.timedelta(at)).isoformat() for at in range((last - first).days + 1))
    return [day for day in days if day not in own]


def _last_open_day(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    return _open_days(family, task, seat)[-1]


def any_open_day(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """Any day on which the seat itself is not away."""
    return draw.choice(_open_days(family, task, seat))


def _plots(family: TextFamily, task: SuiteTask) -> list[int]:
    return [int(each["number"]) for each in family.read(task.question) if each.statement == "plot"]


def _candidates(family: TextFamily, task: SuiteTask, seat: str) -> list[int]:
    """The plots that the seat's own clues leave for its person: those of a clue to that person, else those of none."""
    plots, own = _plots(family, task), family.read(task.briefs[seat])
    slips = {each["slip"]: each["number"] for each in own if each.statement == "slip"}
    [person] = [each["person"] for each in own if each.statement == "wanted"]
    left, found = set(plots), set(plots)
    for each in own:
        if each.statement.startswith("clue"):
            apart = int(each.fields.get("number") or slips[each["slip"]])
            pair = {plot for a, b in combinations(plots, 2) if abs(a - b) == apart for plot in (a, b)}
            left -= pair
            found &= pair if person in (each["a"], each["b"]) else found
    return sorted(found if found != set(plots) else left)


def _first_candidate(family: TextFamily, task: SuiteTask, seat: str, _: Draw) -> JsonValue:
    return _candidates(family, task, seat)[0]


def any_candidate(family: TextFamily, task: SuiteTask, seat: str, draw: Draw) -> JsonValue:
    """Any plot that the seat's own clues leave for its person."""
    return draw.choice(_candidates(family, task, seat))


def _any_plot(family: TextFamily, task: SuiteTask, _: str, draw: Draw) -> JsonValue:
    return draw.choice(_plots(family, task))


SILENT: Final[dict[str, tuple[Guess, ...]]] = {
    "connectivity": (_any_of("sign"), _any_of("road"), _as_if_alone, always("AA-10000")),
    "shortest-path": (_straight, _two_ends, _as_if_alone),
    "offers-needs": (_any_of("stall"), _any_of("item"), _as_if_alone),
    "meeting": (any_open_day, _last_open_day, _as_if_alone),
    "split-budget": (_all_of("request"), _any_of("request"), _as_if_alone, always([])),
    "logic-grid": (any_candidate, _first_candidate, _any_plot, _as_if_alone),
}
