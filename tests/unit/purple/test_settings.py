"""An agent's settings: environment variables, which the command line overrides."""

import pytest

from concord_purple.__main__ import settings_from
from concord_purple.settings import AssistantMode, TeamMode
from concord_purple.teams import Function, TeamName


def test_the_default_agent_is_the_coordinator_of_a_mesh_on_port_9009() -> None:
    settings = settings_from([])
    assert (settings.function, settings.team, settings.mode) == (Function.COORDINATOR, TeamName.MESH, TeamMode.WORK)
    assert settings.own_url == "http://127.0.0.1:9009/"
    assert settings.own_id == "coordinator"
    assert settings.call_timeout_s == 300


def test_the_command_line_overrides_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PURPLE_FUNCTION", "reviewer")
    monkeypatch.setenv("PURPLE_PORT", "7000")
    monkeypatch.setenv("PURPLE_AGENT_ID", "critic")
    settings = settings_from(["--port", "7001", "--card-url", "http://purple:9009"])
    assert (settings.port, settings.function, settings.own_id) == (7001, Function.REVIEWER, "critic")
    assert settings.own_url == "http://purple:9009/"


def test_an_agent_on_all_interfaces_has_a_loopback_url() -> None:
    assert settings_from(["--host", "0.0.0.0"]).own_url == "http://127.0.0.1:9009/"  # noqa: S104


@pytest.mark.parametrize(
    "given",
    ["reviewer=http://a:1,researcher_1 = http://b:2/", '{"reviewer": "http://a:1", "researcher_1": "http://b:2/"}'],
)
def test_peers_are_given_as_pairs_or_as_json(monkeypatch: pytest.MonkeyPatch, given: str) -> None:
    monkeypatch.setenv("PURPLE_PEERS", given)
    peers = {name: str(url) for name, url in settings_from([]).peers.items()}
    assert peers == {"reviewer": "http://a:1/", "researcher_1": "http://b:2/"}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("PURPLE_PORT", "many", "port: Input should be a valid integer"),
        ("PURPLE_TEAM", "ring", "team: Input should be"),
        ("PURPLE_PEERS", "reviewer", "peers.reviewer: Input should be a valid URL"),
        ("PURPLE_PEERS", "{", "peers: "),
    ],
)
def test_an_invalid_variable_exits_with_a_usage_message(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, value: str, reason: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(SystemExit, match="2"):
        settings_from([])
    assert reason in capsys.readouterr().err


def test_an_assistant_is_no_member_of_a_team() -> None:
    settings = settings_from(["--assistant", "oracle", "--oracle", "oracle.json"])
    assert (settings.assistant, settings.own_id) == (AssistantMode.ORACLE, "assistant")


@pytest.mark.parametrize("arguments", [["--assistant", "oracle"], ["--assistant", "null", "--oracle", "oracle.json"]])
def test_the_oracle_and_its_file_go_together(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        settings_from(arguments)
    assert "the assistant `oracle` needs an oracle file, and no other agent reads one" in capsys.readouterr().err
