"""The shipped scenarios name existing teams, and the gateway accepts their configs."""

import pytest

from concord.assessment import AssessmentRequest
from concord_purple.teams import Function, TeamName
from tests.unit.purple.shipped_tasks import scenario

CAST = ["coordinator", "researcher_1", "researcher_2", "synthesizer", "reviewer"]


@pytest.mark.parametrize("team", TeamName)
def test_each_team_has_a_scenario_of_its_name(team: TeamName) -> None:
    shipped = scenario(team)
    assert shipped["team"] == {"wiring": team}
    names = [participant["name"] for participant in shipped["participants"]]
    assert names == (CAST if team is not TeamName.BAD else [*CAST, "reviewer_2"])
    for participant in shipped["participants"]:
        assert Function(participant["function"]) == participant["name"].partition("_")[0]


@pytest.mark.parametrize("team", TeamName)
def test_a_scenarios_config_has_only_known_keys_and_starts_with_the_coordinator(team: TeamName) -> None:
    shipped = scenario(team)
    participants = {each["name"]: f"http://{each['name'].replace('_', '-')}:9009" for each in shipped["participants"]}
    request = AssessmentRequest.model_validate(
        {"participants": participants, "config": shipped["config"] | {"strict": True}}
    )
    assert request.config.start == "coordinator"
