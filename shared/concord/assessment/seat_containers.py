"""The containers that Concord itself starts for the seats of a team, and which participants are in them."""

from typing import Final

from pydantic import BaseModel, ConfigDict

from concord.assessment.plan import AssessmentPlan
from concord.assessment.request import Mode
from concord.assessment.results import SeatContainers
from concord.assessment.seats import shared_processes
from concord.wire.roster import normalise_url

MIN_SEATS: Final = 2
"""One container alone is apart from nothing."""


class StartedContainers(BaseModel):
    """What the program that started the containers tells its gateway: their base URLs, one each, and what they have in
    common."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    urls: frozenset[str]
    containers: SeatContainers

    def around(self, plan: AssessmentPlan) -> SeatContainers | None:
        """The containers, if each seat of a live plan has one to itself; None for every other plan.

        A client names the participants of a plan; it cannot make its own agents one of these containers.
        """
        own = {normalise_url(url) for url in self.urls}
        used = [normalise_url(entry.url) for entry in plan.roster]
        apart = len(set(used)) == len(used) >= MIN_SEATS and own.issuperset(used)
        seats = [plan.agents(task.id) for task in plan.tasks if task.family is not None]
        return self.containers if plan.mode is Mode.LIVE and apart and not any(map(shared_processes, seats)) else None
