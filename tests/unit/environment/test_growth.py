"""The cost of an action does not grow with the size of the environment.

The tests count function calls, which the load of the machine does not change.
"""

import sys
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from statistics import median
from types import FrameType

import pytest

from concord_environment.core.events import Submission
from concord_environment.core.simulation import Simulation
from concord_environment.modalities.email import MODALITY
from concord_environment.modalities.email.queries import EmailQuery
from concord_environment.modalities.email.views import EMAIL_VIEWS
from concord_environment.modalities.modality import StatePage
from concord_environment.modalities.world import EnvironmentWorld
from tests.unit.environment.worlds import START, mail, new_simulation, read

SMALL, LARGE = 200, 3_000
World = Simulation[EnvironmentWorld]


def calls_of(action: Callable[[], object]) -> int:
    """The number of function calls that the action makes, Python's and C's."""
    count = 0

    def note(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001 - a profiler's signature
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(note)
    try:
        action()
    finally:
        sys.setprofile(None)
    return count


def filled(size: int) -> World:
    """A mailbox with `size` mails, and as many scheduled ones."""
    simulation = new_simulation()
    simulation.schedule([Submission(mail(f"m{one}"), START + timedelta(seconds=one + 1)) for one in range(2 * size)])
    simulation.advance(size * 1_000_000)
    return simulation


@pytest.fixture(scope="module")
def worlds() -> tuple[World, World]:
    return filled(SMALL), filled(LARGE)


@pytest.mark.parametrize(
    "action",
    [
        lambda world: world.advance(1_000_000),
        lambda world: world.act(Submission(read("m7"), world.now)),
        lambda world: world.undo(1) and world.redo(1),
        lambda world: EMAIL_VIEWS.state(world.world, world.now, StatePage(limit=20)),
        lambda world: MODALITY.answer(world.world, world.now, EmailQuery(folder="inbox", limit=20)),
        lambda world: MODALITY.answer(world.world, world.now, EmailQuery(is_read=False, limit=20)),
        lambda world: EMAIL_VIEWS.state(world.world, world.now, StatePage(since=world.now - timedelta(seconds=9))),
        lambda world: world.count(),
    ],
    ids=[
        "an event",
        "a read",
        "undo and redo",
        "a page of the state",
        "a page of a folder",
        "a page of unread mails",
        "new mails",
        "counting events",
    ],
)
def test_the_cost_of_an_action_does_not_grow_with_the_number_of_mails(
    worlds: tuple[World, World], action: Callable[[World], object]
) -> None:
    few, many = (median(calls_of(partial(action, world)) for _ in range(9)) for world in worlds)
    assert many <= few * 1.2
