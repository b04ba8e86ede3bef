"""Tasks of the shipped families for tests, their briefs as sentences, and teams that stay silent."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from pydantic import JsonValue

from concord.suite import Draw, SuiteTask, Topology, instance_secret, neighbours_in
from concord_suites.family import TextFamily, setting_of

Guess = Callable[[TextFamily, SuiteTask, str, Draw], JsonValue]
"""The answer of one seat, from the question, its own brief, the neighbour lists, and a draw of its own."""

TOPOLOGIES = list(Topology)


def make(family: TextFamily, seats: int, attempt: int) -> SuiteTask:
    """A task whose topology and difficulty follow from the attempt."""
    secret = instance_secret(b"groups", family.name, f"trial-{seats}", attempt)
    team = [f"agent/{place}" for place in range(1, seats + 1)]
    topology = TOPOLOGIES[attempt % len(TOPOLOGIES)]
    return family.generate(secret, neighbours_in(topology, team, Draw(secret)), 1 + attempt % 5)


def small_tasks(family: TextFamily) -> list[SuiteTask]:
    """Tasks of two to five seats, six of each size."""
    return [make(family, seats, attempt) for seats in (2, 3, 4, 5) for attempt in range(6)]


def right_answers(family: TextFamily, task: SuiteTask) -> dict[str, JsonValue]:
    """The answers of the family's own solution."""
    return dict(family.solve(setting_of(family, task)))


def outcome(family: TextFamily, task: SuiteTask, answers: Mapping[str, JsonValue]) -> float:
    """The outcome of answers."""
    return family.grade(answers, task.key).outcome


def from_all(task: SuiteTask, answer: JsonValue) -> dict[str, JsonValue]:
    """The same answer from every seat."""
    return {seat: answer for seat in task.seats}  # noqa: C420 - the answer may be a list


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


def excess_over_chance(family: TextFamily, seats: int, guesses: Sequence[Guess], tasks: int = 300) -> float:
    """The best silent strategy's mean outcome less the mean chance."""
    made = [make(family, seats, attempt) for attempt in range(tasks)]
    reached = max(sum(silent_outcome(family, task, guess) for task in made) for guess in guesses)
    return (reached - sum(task.chance for task in made)) / tasks
