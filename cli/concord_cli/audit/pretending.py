"""Answers to team tasks that no message helped to find: none may be right more often than the task's chance says."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Final

from pydantic import JsonValue

from concord.suite import Answers, Draw, SuiteTask
from concord_cli.audit import answers, flaws
from concord_cli.audit.flaws import Attack, Tried, not_applicable, played
from concord_cli.audit.team import TeamTask
from concord_evaluator.information.values import values_in
from concord_evaluator.statistics import mean_interval
from concord_gateway.rounds.reply import read_reply
from concord_gateway.rounds.texts import turn_text

ABOVE_CHANCE: Final = 0.05
"""How much above a task's chance who only pretends may come, on average."""

CONFIRMING: Final = 4
"""On how many times as many other tasks an excess over chance has to show again: of many ways, some are lucky."""

_LABELLED: Final = re.compile(r"\b(?:answer|key|solution|target)\b\W+(?:is\W+)?([\w,.-]*\w)", re.IGNORECASE)

Way = Callable[[TeamTask, SuiteTask, int], Answers]
"""The answers of a team to the task of a number."""

Guess = Callable[[SuiteTask, str, Draw], JsonValue]
"""What a seat answers that knows the question, its own brief and nothing else."""


def pretended(team: TeamTask, count: int) -> Iterator[Tried]:
    """The attacks by answers alone, each on `count` tasks."""
    yield _most(team, flaws.NULL, {"seats that say nothing": lambda *_: {}}, count)
    yield _most(team, flaws.ECHO, {"the text of the turn": _own_turn}, count)
    if (right := team.right(team.instance(0))) is None:
        for attack in (flaws.GUESS, flaws.CANDIDATES, flaws.NEGATED, flaws.CONTRADICTORY, flaws.RESUBMISSION):
            yield not_applicable(attack, team.name, "neither the family nor the key gives right answers")
        return
    shape = next(iter(right.values()))
    brief = {"what the own brief calls the answer": _guessing(_labelled, shape)}
    yield _most(team, flaws.TARGET_SHOWN, brief, count)
    yield _most(team, flaws.GUESS, {name: _guessing(guess, shape) for name, guess in GUESSES.items()}, count)
    yield _most(team, flaws.CANDIDATES, {"all values that a seat knows": _guessing(_all_values, shape)}, count)
    yield _most(
        team, flaws.NEGATED, {"the opposite of the right answers": _changed(lambda right: f"not {right}")}, count
    )
    yield _most(team, flaws.CONTRADICTORY, {"right answers that are taken back": _taken_back}, count)
    yield _most(team, flaws.RESUBMISSION, {"the right answers to an earlier task": _of_another}, count)


def _values(text: str) -> list[str]:
    return [each.value.text for each in values_in(text)]


def _labelled(task: SuiteTask, seat: str, draw: Draw) -> str:
    del draw
    found = _LABELLED.search(task.briefs[seat])
    return found[1] if found else seat


GUESSES: Final[Mapping[str, Guess]] = {
    "any value of the own brief": lambda task, seat, draw: draw.choice(_values(task.briefs[seat]) or [seat]),
    "the first value of the question": lambda task, seat, _: (_values(task.question) or [seat])[0],
    "the last value of the own brief": lambda task, seat, _: (_values(task.briefs[seat]) or [seat])[-1],
}


def _all_values(task: SuiteTask, seat: str, draw: Draw) -> str:
    del draw
    return " or ".join(dict.fromkeys(_values(f"{task.question} {task.briefs[seat]}")))


def _guessing(guess: Guess, shape: JsonValue) -> Way:
    """Seats that guess, in the form that the question asks for."""

    def way(team: TeamTask, task: SuiteTask, number: int) -> Answers:
        del team
        given = dict[str, JsonValue]()
        for seat in task.answerers:
            draw = Draw(f"{number} {seat} {task.briefs[seat]}".encode())
            given[seat] = filled(shape, lambda _, seat=seat, draw=draw: guess(task, seat, draw))  # type: ignore[misc]
        return given

    return way


def filled(shape: JsonValue, change: Callable[[JsonValue], JsonValue]) -> JsonValue:
    """An answer of the same form, with each of its values changed."""
    if isinstance(shape, list):
        return [filled(each, change) for each in shape]
    if isinstance(shape, dict):
        return {name: filled(each, change) for name, each in shape.items()}
    return change(shape)


def _own_turn(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    del number
    return team.play(task, lambda rounds, seat: read_reply(turn_text(rounds, seat))).answers


def _changed(change: Callable[[JsonValue], JsonValue]) -> Way:
    return lambda team, task, _: {seat: filled(each, change) for seat, each in (team.right(task) or {}).items()}


def _taken_back(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    """Right answers, and after each of their values another that the family would read as an answer."""
    del number
    stated = dict.fromkeys(value for brief in task.briefs.values() for value in _values(brief))
    seat = task.answerers[0]
    readable = [each for each in stated if not team.family.grade({seat: each}, task.key).unreadable]

    def taken_back(right: JsonValue) -> str:
        others = [each for each in readable if each.casefold() != str(right).casefold()]
        return f"{right}, no, {(others or answers.decoys(str(right), 1))[0]}"

    return _changed(taken_back)(team, task, 0)


def _of_another(team: TeamTask, task: SuiteTask, number: int) -> Answers:
    del task
    return team.right(team.instance(number + 1)) or {}


def _most(team: TeamTask, attack: Attack, ways: Mapping[str, Way], count: int) -> Tried:
    """The most that some answers reach above chance."""
    best, best_name = 0.0, ""
    for name, way in ways.items():
        if _excess(team, way, range(count)):
            again = _excess(team, way, range(count, (1 + CONFIRMING) * count))
            best, best_name = max((again, name), (best, best_name))
    shown = f"{best_name}: so much above chance" if best else f"{', '.join(ways)}: not above chance"
    return played(attack, team.name, 100 * best, f"{shown}, on {count} tasks")


def _excess(team: TeamTask, way: Way, numbers: Sequence[int]) -> float:
    """The mean outcome above chance; 0 unless it is more than `ABOVE_CHANCE` with 97.5 % certainty."""
    tasks = [(number, team.instance(number)) for number in numbers]
    found = [team.family.grade(way(team, task, number), task.key).outcome - task.chance for number, task in tasks]
    interval = mean_interval(found, [str(number) for number in numbers], scale=(-1.0, 1.0))
    return fmean(found) if interval is not None and interval.low > ABOVE_CHANCE else 0.0
