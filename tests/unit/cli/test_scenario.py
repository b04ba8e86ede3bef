"""Valid scenarios in both forms, and the errors of invalid ones."""

from pathlib import Path

import pytest

from concord_cli.errors import UsageError
from concord_cli.scenario.scenario_file import SAMPLE_AGENT, ScenarioFile, read_scenario, with_sample_agent

PLATFORM_FORM = """
[green_agent]
endpoint = "http://green-agent:9009"

[[participants]]
role = "agent"
endpoint = "http://agent:9009"
agentbeats_id = "0197-a"

[[participants]]
role = "helper"
endpoint = "http://helper:9009"

[config]
num_runs = 3
"""

LOCAL_FORM = """
[team]
wiring = "chain"

[[participants]]
name = "researcher_1"
function = "researcher"
"""


def scenario_of(text: str, tmp_path: Path) -> ScenarioFile:
    path = tmp_path / "scenario.toml"
    path.write_text(text)
    return read_scenario(path)


def test_the_platforms_form_names_agents_that_run_already(tmp_path: Path) -> None:
    scenario = scenario_of(PLATFORM_FORM, tmp_path)

    assert scenario.green_agent is not None
    assert str(scenario.green_agent.endpoint) == "http://green-agent:9009/"
    assert scenario.endpoints == {"agent": "http://agent:9009/", "helper": "http://helper:9009/"}
    assert scenario.agentbeats_ids == {"agent": "0197-a"}
    assert scenario.config == {"num_runs": 3}
    assert scenario.local == []


def test_the_local_form_names_agents_to_be_started(tmp_path: Path) -> None:
    scenario = scenario_of(LOCAL_FORM, tmp_path)

    assert [(each.role, each.function) for each in scenario.local] == [("researcher_1", "researcher")]
    assert scenario.team.wiring == "chain"
    assert scenario.endpoints == {}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("participant = 1", "participant: unknown key"),
        ("[team]\nwirings = 'mesh'", "team.wirings: unknown key"),
        ("[[participants]]\nname = 'a'\nfunction = 'reviewer'\nport = 1", "participants[0].port: unknown key"),
        ("[[participants]]\nname = 'a'", "participants[0]: give one of `endpoint`"),
        ("[[participants]]\nname = 'a'\nfunction = 'b'\nendpoint = 'http://c'", "participants[0]: give one of"),
        ("[[participants]]\nname = 'a/b'\nfunction = 'reviewer'", "participants[0].name: String should match"),
        ("[[participants]]\nname = 'green-agent'\nfunction = 'reviewer'", "reserved role: green-agent"),
        (
            LOCAL_FORM + "[[participants]]\nname = 'researcher_1'\nfunction = 'researcher'",
            "role used twice: researcher_1",
        ),
        ("[green_agent]\nendpoint = 'nowhere'", "green_agent.endpoint: Input should be a valid URL"),
        ("[config]\nsince = 2026-01-01", "config.since"),
        ("participants =", "not TOML: Invalid value (at end of document)"),
    ],
)
def test_a_bad_scenario_is_refused_on_one_line_with_file_and_reason(text: str, reason: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refused:
        scenario_of(text, tmp_path)

    message = str(refused.value)
    assert message.startswith(f"{tmp_path / 'scenario.toml'}: ")
    assert reason in message
    assert "\n" not in message


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"nowhere\.toml: No such file"):
        read_scenario(tmp_path / "nowhere.toml")


def test_the_sample_agent_takes_the_place_of_each_participant(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text(
        '[[participants]]\nname = "a"\nimage = "mine"\nagentbeats_id = "uuid"\n'
        '[[participants]]\nname = "b"\nendpoint = "http://127.0.0.1:9/"\n'
        '[config]\nsuite = "quick"\nseed = 7\n'
    )
    given = read_scenario(path)
    played = with_sample_agent(path, given)
    assert [(each.role, each.cmd, each.image, each.endpoint) for each in played.participants] == [
        ("a", SAMPLE_AGENT, None, None),
        ("b", SAMPLE_AGENT, None, None),
    ]
    assert (played.config, played.agentbeats_ids) == (given.config, given.agentbeats_ids)


def test_the_sample_agent_takes_the_place_of_agents_that_only_the_platform_can_start(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text('[[participants]]\nname = "a"\nagentbeats_id = "uuid"\n[config]\nsuite = "quick"\n')
    with pytest.raises(UsageError, match="give one of `endpoint`"):
        read_scenario(path)
    [player] = with_sample_agent(path, read_scenario(path, sample=True)).participants
    assert (player.cmd, player.agentbeats_id) == (SAMPLE_AGENT, "uuid")


def test_the_sample_agent_plays_no_task_of_the_users_own(tmp_path: Path) -> None:
    path = tmp_path / "scenario.toml"
    path.write_text('[[participants]]\nname = "a"\nimage = "mine"\n[config]\ntask = "Say something."\n')
    with pytest.raises(UsageError, match="plays team tasks only"):
        with_sample_agent(path, read_scenario(path))
