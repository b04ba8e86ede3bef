"""Teams that send nothing: whatever their seats guess, and whatever they know of the suites, they stay at chance."""

from math import sqrt

import pytest
from pydantic import JsonValue

from concord.suite import Draw, SuiteTask, Topology, commitment, instance_secret, neighbours_in
from concord_suites import FAMILIES
from concord_suites.family import TextFamily, setting_of
from tests.kit.players.silent import Guess, guesses
from tests.kit.players.silent_agree import SILENT as AGREE
from tests.kit.players.silent_all_to_all import any_candidate, any_open_day
from tests.kit.players.silent_judge import ANY_BUT_THE_FAVOURITE
from tests.kit.players.silent_pool import SILENT as POOL
from tests.kit.suite_tasks import BY_NAME, excess_over_chance, make, outcome, team_of

EACH_FAMILY = pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
SAMPLE = 20
"""Tasks of each family and size. `make suites-gate` tries 1,000."""


def most_by_chance(tasks: list[SuiteTask]) -> float:
    """5 points, and three standard errors of outcomes that are 1 by chance and 0 otherwise."""
    chance = sum(task.chance for task in tasks) / len(tasks)
    return 0.05 + 3 * sqrt(chance * (1 - chance) / len(tasks))


@EACH_FAMILY
@pytest.mark.parametrize("seats", [2, 5])
def test_silent_teams_stay_at_chance(family: TextFamily, seats: int) -> None:
    tasks = [make(family, seats, attempt) for attempt in range(SAMPLE)]
    assert max(task.chance for task in tasks) <= 0.34
    for guess in guesses(family):
        assert excess_over_chance(family, tasks, guess) <= most_by_chance(tasks)


BEST_GUESSES: list[tuple[str, int, Guess]] = [
    ("date-intersection", 2, POOL["date-intersection"][3]),
    ("meeting", 2, any_open_day),
    ("logic-grid", 2, any_candidate),
    ("colouring", 5, AGREE["colouring"][2]),
    ("hidden-profile", 5, ANY_BUT_THE_FAVOURITE),
]


@pytest.mark.parametrize(("family", "seats", "guess"), BEST_GUESSES, ids=[name for name, *_ in BEST_GUESSES])
def test_the_best_guess_reaches_chance(family: str, seats: int, guess: Guess) -> None:
    tasks = [make(BY_NAME[family], seats, attempt) for attempt in range(200)]
    assert abs(excess_over_chance(BY_NAME[family], tasks, guess)) < 0.04


MASTER = bytes(range(32))


def answers_by_generating_again(
    family: TextFamily, task: SuiteTask, attempt: int, masters: list[bytes]
) -> dict[str, JsonValue]:
    """The answers of agents that know the suites, the trial, the attempt, the topology and the difficulty.

    Each generates the task with every secret that it can think of, and answers as in the one whose brief for it shares
    the most words with its own brief.
    """
    guessed = [generated(family, master, len(task.seats), attempt) for master in masters]
    solutions = [family.solve(setting_of(family, each)) for each in guessed]
    answers = dict[str, JsonValue]()
    for seat in task.answerers:
        own = set(task.briefs[seat].split())
        alike = [len(own & set(each.briefs[seat].split())) for each in guessed]
        answers[seat] = solutions[alike.index(max(alike))].get(seat)
    return answers


def generated(family: TextFamily, master: bytes, seats: int, attempt: int) -> SuiteTask:
    """The task of an assessment's secret, as a gateway generates it."""
    secret = instance_secret(master, family.name, "task-1", attempt)
    neighbours = neighbours_in(Topology.COMPLETE, team_of(seats), Draw(b"topology"))
    return family.generate(secret, neighbours, 3)


@EACH_FAMILY
def test_agents_that_know_the_suites_and_all_but_the_secret_stay_at_chance(family: TextFamily) -> None:
    public = [bytes(32), bytes.fromhex(commitment(MASTER)), family.name.encode()]
    tasks = [generated(family, MASTER, 5, attempt) for attempt in range(5)]
    reached = [
        outcome(family, task, answers_by_generating_again(family, task, attempt, public))
        for attempt, task in enumerate(tasks)
    ]
    assert sum(reached) / len(reached) <= sum(task.chance for task in tasks) / len(tasks) + most_by_chance(tasks)


@EACH_FAMILY
def test_agents_that_know_the_secret_too_need_no_message(family: TextFamily) -> None:
    task = generated(family, MASTER, 5, 1)
    assert outcome(family, task, answers_by_generating_again(family, task, 1, [bytes(32), MASTER])) == 1
