"""Planted faults of own tasks are traced to the agents that are at fault, and to no others."""

from collections.abc import Callable
from random import Random

import pytest

from tests.kit.own_tasks.faults import FAULTS, Planted
from tests.kit.own_tasks.measures import named
from tests.kit.own_tasks.traps import TRAPS

TRIALS = 12

ALWAYS_FOUND = {
    "dropped by a coordinator",
    "dropped by the first agent",
    "empty answer",
    "crashed",
    "never answers",
    "invented by the first agent",
    "garbled on the way",
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_nobody_is_named_for_a_planted_fault_but_those_at_fault(
    fault: Callable[[Random], Planted], request: pytest.FixtureRequest
) -> None:
    counts = named(fault, TRIALS)
    assert counts.wrong == 0
    assert counts.right == TRIALS if request.node.callspec.id in ALWAYS_FOUND else counts.right > TRIALS // 4


@pytest.mark.parametrize("trap", TRAPS.values(), ids=TRAPS)
def test_nobody_is_named_for_what_another_did_or_nobody(trap: Callable[[Random], Planted]) -> None:
    assert named(trap, TRIALS).wrong == 0
