"""Which plans count as isolated: those whose every seat is in a container of its own that Concord started."""

from collections.abc import Mapping

import pytest

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, plan_trials
from concord.assessment.plan import StartedContainers
from concord.assessment.results import SeatContainers
from concord.assessment.suite_tasks import requested_tasks
from concord.wire.roster import RosterEntry

CONTAINERS = SeatContainers(image="agent:1", image_id="sha256:1", image_digest=None, model_endpoints=())
TEAM = {name: f"http://127.0.0.1:{port}/" for port, name in enumerate(("ann", "bob", "cy"), start=9001)}
STARTED = StartedContainers(urls=frozenset(TEAM.values()), containers=CONTAINERS)


def plan(
    team: Mapping[str, str], config: Mapping[str, object] = {"suite": "maximum"}, mode: Mode = Mode.LIVE
) -> AssessmentPlan:
    chosen = AssessmentConfig.model_validate(config)
    tasks = requested_tasks(chosen, list(team)) or chosen.chosen_tasks()
    return AssessmentPlan(
        assessment_id="assessment",
        mode=mode,
        config=chosen.model_copy(update={"tasks": None}),
        tasks=tasks,
        roster=[RosterEntry(id=name, url=url) for name, url in team.items()],
        trials=plan_trials(chosen, tasks),
    )


@pytest.mark.parametrize("config", [{"suite": "maximum"}, {"task": "Count."}, {"suite": "quick", "controls": ["solo"]}])
def test_a_team_of_started_containers_with_one_seat_each_is_in_containers(config: dict[str, object]) -> None:
    assert STARTED.around(plan(TEAM, config)) == CONTAINERS
    spelt = {name: url.removesuffix("/") for name, url in TEAM.items()}
    assert STARTED.around(plan(spelt, config)) == CONTAINERS


@pytest.mark.parametrize(
    "team",
    [
        {**TEAM, "dee": "http://127.0.0.1:9004/"},
        {**TEAM, "again": TEAM["ann"]},
        {**TEAM, "below": TEAM["ann"] + "below"},
        {"ann": TEAM["ann"]},
        {},
    ],
    ids=["an agent of another", "two in one container", "two in one container by path", "one alone", "nobody"],
)
def test_a_team_with_anybody_outside_or_with_two_in_one_container_is_not(team: dict[str, str]) -> None:
    assert STARTED.around(plan(team, {"task": "Count."})) is None


def test_a_container_that_takes_two_seats_makes_its_team_not_isolated() -> None:
    assert STARTED.around(plan(TEAM, {"suite": "maximum", "seats": {"bob": 2}})) is None


def test_what_nobody_plays_is_not_isolated() -> None:
    assert STARTED.around(plan(TEAM, {"task": "Count."}, Mode.RECORDED)) is None
