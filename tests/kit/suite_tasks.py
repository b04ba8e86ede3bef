"""Tasks of the shipped families for tests, their briefs as sentences, and teams that stay silent."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of
from tests.kit.players.silent import Guess

TOPOLOGIES = list(Topology)
BY_NAME = {family.name: family for family in FAMILIES}


def make(family: TextFamily, seats: int, attempt: int) -> SuiteTask:
    """A task whose topology and difficulty follow from the attempt. It is generated once in a process."""
    return _made(family.name, seats, attempt)


@cache
def _made(family: str, seats: int, attempt: int) -> SuiteTask:
    secret = instance_secret(b"groups", family, f"trial-{seats}", attempt)
    neighbours = neighbours_in(TOPOLOGIES[attempt % len(TOPOLOGIES)], team_of(seats), Draw(secret))
    return BY_NAME[family].generate(secret, neighbours, 1 + attempt % 5)


def team_of(seats: int) -> list[str]:
    """The names of so many seats."""
    return [f"agent/{place}" for place in range(1, seats + 1)]


def small_tasks(family: TextFamily) -> list[SuiteTask]:
    """Tasks of two to five seats, one of each size on each topology."""
    return [make(family, seats, attempt) for seats in (2, 3, 4, 5) for attempt in range(len(TOPOLOGIES))]


def right_answers(family: TextFamily, task: SuiteTask) -> dict[str, JsonValue]:
    """The answers of the family's own solution."""
    return dict(family.solve(setting_of(family, task)))


def outcome(family: TextFamily, task: SuiteTask, answers: Mapping[str, JsonValue]) -> float:
    """The outcome of answers."""
    return family.grade(answers, task.key).outcome


def from_all(task: SuiteTask, answer: JsonValue) -> dict[str, JsonValue]:
    """The same answer from every seat."""
    return {seat: answer for seat in task.seats}  # noqa: C420 - the answer may be a list


def from_answerer(task: SuiteTask, answer: JsonValue) -> dict[str, JsonValue]:
    """The answer, from the only seat that has to give one."""
    [seat] = task.answerers
    return {seat: answer}


def sentences(task: SuiteTask, seat: str, *, without: Sequence[str] = ()) -> list[str]:
    """The sentences of a brief, numbers without commas, but for those that hold one of the given pieces of text."""
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", task.briefs[seat])
    return [each for each in re.split(r"(?<=\.) ", plain) if not any(piece in each for piece in without)]


def stated_number(sentence: str, brief: Sequence[str]) -> int:
    """The number of five digits and more in a sentence, or in the other sentence of the brief with the same slip."""
    slips = re.findall(r"[A-Z]{2}-\d{5}", sentence)
    other = [each for each in brief if each != sentence and any(slip in each for slip in slips)]
    [found] = re.findall(r"(?<![-\d])\d{5,}", " ".join([sentence, *other]))
    return int(found)


def silent_outcome(family: TextFamily, task: SuiteTask, guess: Guess) -> float:
    """What a team reaches in which each seat guesses from its own brief alone."""
    hidden = replace(task, key=None, facts=(), parts=())
    answers = dict[str, JsonValue]()
    for seat in task.answerers:
        own = replace(hidden, briefs={seat: task.briefs[seat]})
        answers[seat] = guess(family, own, seat, Draw(f"{seat} {task.briefs[seat]}".encode()))
    return outcome(family, task, answers)


def excess_over_chance(family: TextFamily, tasks: Sequence[SuiteTask], guess: Guess) -> float:
    """The mean outcome of silent teams less the mean chance."""
    return sum(silent_outcome(family, task, guess) - task.chance for task in tasks) / len(tasks)
