"""Every shipped scenario of a local team is also one for the leaderboard's generator."""

import tomllib
from pathlib import Path

import pytest

from concord_cli.scenario.assistant import ORACLE_COMMAND
from concord_cli.scenario.scenario_file import read_scenario
from deploy.leaderboard import generate_compose

FOLDER = Path(__file__).parents[3] / "scenarios"
LOCAL = sorted(path for path in FOLDER.glob("*.toml") if "endpoint =" not in path.read_text())


def test_only_the_scenario_of_the_compose_stack_names_running_agents() -> None:
    assert {path.name for path in FOLDER.glob("*.toml")} - {path.name for path in LOCAL} == {"compose.toml"}


@pytest.mark.parametrize("path", LOCAL, ids=lambda path: path.stem)
def test_the_generator_and_the_command_line_read_the_same_team_and_config(path: Path) -> None:
    here, there = read_scenario(path), generate_compose.read_scenario(path)
    assert [each.role for each in here.local] == [each.name for each in there.participants]
    assert here.config == there.config
    assert there.green.image == "concord-green"


@pytest.mark.parametrize("path", LOCAL, ids=lambda path: path.stem)
def test_an_agent_behaves_in_its_container_as_on_this_machine(path: Path) -> None:
    scenario, written = read_scenario(path), generate_compose.read_scenario(path)
    for participant, agent in zip(scenario.local, written.participants, strict=True):
        if participant.function is not None:
            assert agent.image == "concord-purple"
            expected = {"PURPLE_FUNCTION": participant.function, "PURPLE_TEAM": scenario.team.wiring}
            assert expected.items() <= agent.env.items()
        elif participant.cmd == ORACLE_COMMAND:  # its file is made on this machine, from the secret of a run
            assert agent.image == "concord-purple"
            assert agent.env["PURPLE_ASSISTANT"] == "model"
        else:
            assert agent.image == "concord-sample"
            habits = str(participant.cmd).partition(" --habit ")[2]
            assert agent.env.get("SAMPLE_HABITS", "") == habits


def test_a_teams_wiring_needs_no_function() -> None:
    text = '[green_agent]\nimage = "g"\n[team]\nwiring = "chain"\n[[participants]]\nimage = "p"\nname = "p"\n'
    [agent] = generate_compose.parse_scenario(tomllib.loads(text)).participants
    assert agent.env == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('team = 1\n[green_agent]\nimage = "g"', "team is not a table"),
        ('[green_agent]\nimage = "g"\n[team]\nwires = "x"', "team has an unknown key: 'wires'"),
        ('[green_agent]\nimage = "g"\n[team]\nwiring = 1', "team.wiring is not a string: 1"),
        (
            '[green_agent]\nimage = "g"\n[[participants]]\nname = "p"\ncmd = "python -m p"',
            "participants[0]: give either `agentbeats_id` or `image`: neither is given",
        ),
    ],
)
def test_a_team_that_the_generator_cannot_start_is_refused(text: str, reason: str) -> None:
    with pytest.raises(generate_compose.ScenarioError) as refused:
        generate_compose.parse_scenario(tomllib.loads(text))
    assert reason in str(refused.value)
