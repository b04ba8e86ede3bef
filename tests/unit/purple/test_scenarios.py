"""The shipped scenarios: teams that exist, tasks that the gateway takes, the text that is shipped."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from concord.assessment import AssessmentRequest
from concord_purple.requests import request_in
from concord_purple.teams import Function, TeamName

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "data/texts/cargo_bikes.txt").read_text(encoding="utf-8").strip()
CAST = ["coordinator", "researcher_1", "researcher_2", "synthesizer", "reviewer"]


def _scenario(team: TeamName) -> dict[str, Any]:
    return tomllib.loads((ROOT / f"scenarios/{team}.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("team", TeamName)
def test_each_team_has_a_scenario_of_its_name(team: TeamName) -> None:
    scenario = _scenario(team)
    assert scenario["team"] == {"wiring": team}
    names = [participant["name"] for participant in scenario["participants"]]
    assert names == (CAST if team is not TeamName.BAD else [*CAST, "reviewer_2"])
    for participant in scenario["participants"]:
        assert Function(participant["function"]) == participant["name"].partition("_")[0]


@pytest.mark.parametrize("team", TeamName)
def test_a_scenarios_config_has_nothing_unknown_in_it_and_starts_with_the_coordinator(team: TeamName) -> None:
    scenario = _scenario(team)
    participants = {participant["name"]: "http://agent:9009" for participant in scenario["participants"]}
    request = AssessmentRequest.model_validate(
        {"participants": participants, "config": scenario["config"] | {"strict": True}}
    )
    assert request.config.start == "coordinator"


@pytest.mark.parametrize("team", TeamName)
def test_a_scenarios_task_is_the_shipped_text_with_an_instruction(team: TeamName) -> None:
    (task,) = _scenario(team)["config"]["tasks"]
    request = request_in(task["text"], ())
    assert (request.text, request.instruction) == (TEXT, "Review this report for the council:")
