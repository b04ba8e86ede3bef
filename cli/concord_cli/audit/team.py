"""Tasks that families generate, as an audit plays them: in rounds, over the gateway's own state, by scripted seats."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from concord.assessment.suite_tasks import family_of
from concord.assessment.task_spec import FamilyTask
from concord.suite import Answers, Draw, Family, SuiteTask, Topology, instance_secret, neighbours_in, neighbours_of
from concord_cli.replay.recorded import Ended
from concord_gateway.rounds.exchange import Rounds, default_rounds
from concord_gateway.rounds.reply import Reply
from concord_suites.family import TextFamily, setting_of

SECRET: Final = b"concord audit"
"""From which the tasks follow: the same in every audit, and so the result. No assessment has it."""

Says = Callable[[Rounds, str], Reply]
"""What a seat replies in the present round."""


@dataclass(frozen=True)
class TeamTask:
    """A task of a suite as a request names it, with the names of its seats."""

    name: str
    spec: FamilyTask
    seats: tuple[str, ...]

    @cached_property
    def family(self) -> Family:
        """Its family. Raises NoFamilyError."""
        return family_of(self.spec.name)

    def instance(self, number: int) -> SuiteTask:
        """One of its tasks. Raises ValueError for a size or a topology that the family does not support."""
        secret = instance_secret(SECRET, self.spec.name, self.name, number)
        topology, seats = self.spec.topology, list(self.seats)
        neighbours = (
            neighbours_in(topology, seats, Draw(secret))
            if isinstance(topology, Topology)
            else neighbours_of(seats, topology)
        )
        return self.family.generate(secret, neighbours, self.spec.difficulty)

    def play(self, task: SuiteTask, says: Says) -> Ended:
        """A trial of a task to its end."""
        rounds = Rounds(task, self.spec.max_rounds or default_rounds(task))
        while not rounds.over:
            rounds.begin()
            rounds.take({seat: says(rounds, seat) for seat in task.seats})
        return Ended(task, self.family, rounds)

    def right(self, task: SuiteTask) -> Answers | None:
        """Right answers by seat; None where neither the family nor the key gives them."""
        if isinstance(self.family, TextFamily):
            return self.family.solve(setting_of(self.family, task))
        if isinstance(task.key, dict) and self.family.grade(task.key, task.key).outcome == 1:
            return task.key
        return None
