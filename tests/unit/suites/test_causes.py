"""A sample of the planted faults (`make lab NAME=causes`): each kind on some tasks, in rounds and by calls."""

import json
from collections import Counter

import pytest

from concord.assessment.verdict import CauseKind
from concord.suite import Draw
from concord_suites import FAMILIES
from concord_suites.family import TextFamily
from tests.kit.players.faults import FAULTS
from tests.kit.players.measures import task_of
from tests.kit.players.minds import Mind
from tests.kit.players.planted import EXCHANGES, IN_ROUNDS_ONLY, STYLES, Planted, missed, planted_in
from tests.kit.players.play import play
from tests.kit.players.strategies import HONEST, SHORT, suits
from tests.kit.players.writings import WRITINGS


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    """Every kind in each exchange, in the first family and style by turns in which it can be planted."""
    tries = (
        (
            planted_in(
                FAMILIES[(at * 7 + turn * 3) % len(FAMILIES)], at, kind, STYLES[(at + turn) % len(STYLES)], exchange
            )
            for turn in range(2)
        )
        for at, kind in enumerate(FAULTS)
        for exchange in EXCHANGES
    )
    found = [next(filter(None, each), None) for each in tries]
    return [each for each in found if each is not None]


def test_nearly_all_planted_faults_are_found_and_hardly_an_innocent_seat_is_named(planted: list[Planted]) -> None:
    assert list(missed(planted)) == []


def test_every_kind_of_fault_is_planted_in_each_exchange_that_has_it(planted: list[Planted]) -> None:
    expected = {(kind, exchange) for kind in FAULTS for exchange in EXCHANGES}
    assert set(Counter((each.kind, each.exchange) for each in planted)) == expected - {
        (kind, "calls") for kind in IN_ROUNDS_ONLY
    }


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_nobody_is_said_to_have_lied_where_all_are_honest_and_one_answers_wrong(family: TextFamily) -> None:
    """Each family with every third way to be honest, by turns."""
    for at, (name, strategy) in [*enumerate(HONEST.items())][FAMILIES.index(family) % 3 :: 3]:
        task = task_of(family, 5, at)
        mind, draw = Mind(family, task), Draw(name.encode())
        if name in SHORT or not suits(name, mind):
            continue
        writing = list(WRITINGS)[(at + len(family.name)) % len(WRITINGS)]
        played = play(family, task, strategy(mind, draw, WRITINGS[writing]), 20 * len(task.seats) + 20)
        seat = draw.choice(sorted(mind.solution))
        wrong = mind.answer(seat, [fact for fact in task.facts if seat in fact.holders], draw)
        played.rounds.answers[seat] = wrong if isinstance(wrong, str) else json.dumps(wrong)
        causes = {each.kind for each in played.failures()}
        assert causes.isdisjoint({CauseKind.CHANGED, CauseKind.CONTRADICTED, CauseKind.INVENTED}), (name, writing)
