"""Teams in the office in tests: what a team came to whose seats take given steps, without an environment."""

from collections.abc import Mapping, Sequence
from typing import Any

from concord.suite import Draw, Neighbours, Topology, neighbours_in
from concord_assistant.office.days import closing
from concord_assistant.office.grading import OCCURRENCES, DayEvidence
from concord_assistant.office.plan import OracleStep
from concord_assistant.office.teams.grading import SeatState, seat_state
from concord_assistant.office.teams.team import Team
from tests.kit.days import logged, states_of, steps_of


def complete(seats: int) -> Neighbours:
    """The neighbours of so many seats that can all write to each other."""
    return neighbours_in(Topology.COMPLETE, [f"seat-{number}" for number in range(1, seats + 1)], Draw(b"seats"))


def oracles(made: Team) -> list[list[OracleStep]]:
    """The steps of each seat's oracle, its answer among them."""
    return [[*steps_of(plan), closing(plan)] for plan in made.plans]


def states_after(made: Team, neighbours: Neighbours, steps: Sequence[Sequence[OracleStep]]) -> Mapping[str, SeatState]:
    """The end states of all seats after these steps of each."""
    found = dict[str, SeatState]()
    for seat, day, plan, taken in zip(neighbours, made.days, made.plans, steps, strict=True):
        initial: dict[str, Any] = {**states_of(day), OCCURRENCES: []}
        created = [each.parameters for each in taken if each.action == "calendar.create"]
        booked = [{**each, "event_id": f"new-{number}"} for number, each in enumerate(created)]
        evidence = DayEvidence(logged(day, taken), initial, {**initial, OCCURRENCES: booked}, [])
        found[seat] = seat_state(plan, evidence)
    return found
