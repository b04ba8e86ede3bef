"""Scenarios of assistants on the command line: linting them, and running one."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.assistant_scenario import assistant_scenario
from concord_cli.errors import UsageError
from concord_cli.main import app
from tests.unit.assistant.scenario.folders import email_at, with_events, write

FIRST_DAY = Path("scenarios/assistant/first_day")


def test_lint_names_each_fault_and_fails(tmp_path: Path) -> None:
    late = write(tmp_path / "late", state=with_events(email_at("2027-01-01T00:00:00Z")))
    broken = write(tmp_path / "broken", name="")
    result = CliRunner().invoke(app, ["scenario", "lint", str(FIRST_DAY), str(late), str(broken)])
    assert result.exit_code == 1
    assert f"{FIRST_DAY}: no faults" in result.output
    assert f"{late}: initial_state.events[0]: is due at 2027-01-01T00:00:00+00:00" in result.output
    assert "(unreachable-event)" in result.output
    assert f"{broken}/scenario.json: name:" in result.output
    assert "2 faults in 3 scenarios" in result.output


def test_lint_succeeds_without_faults() -> None:
    assert CliRunner().invoke(app, ["scenario", "lint", str(FIRST_DAY)]).exit_code == 0


def test_a_folder_is_the_assessment_of_the_assistant_at_the_endpoint() -> None:
    scenario = assistant_scenario(FIRST_DAY, "http://127.0.0.1:9021/")
    assert scenario.endpoints == {"assistant": "http://127.0.0.1:9021/"}
    assert scenario.config == {"scenario": "first_day"}


@pytest.mark.parametrize(
    ("variables", "mode"),
    [
        ({}, "rules"),
        ({"API_KEY": "k"}, "model"),
        ({"API_KEY": "k", "PROVIDER": "anthropic", "MODEL": "m"}, "rules"),
    ],
)
def test_without_an_endpoint_concords_own_assistant_is_started(
    variables: dict[str, str], mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("API_KEY", "PROVIDER", "MODEL"):
        monkeypatch.delenv(f"AGENTBEATS_LLM_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"AGENTBEATS_LLM_{name}", value)
    [assistant] = assistant_scenario(FIRST_DAY, None).local
    assert (assistant.role, assistant.cmd) == ("assistant", f"python -m concord_purple --assistant {mode}")


def test_an_endpoint_that_is_not_a_url_is_refused() -> None:
    with pytest.raises(UsageError, match="--endpoint: nowhere is not the URL"):
        assistant_scenario(FIRST_DAY, "nowhere")


def test_run_refuses_a_broken_folder_and_an_endpoint_beside_a_toml_file(tmp_path: Path) -> None:
    broken = write(tmp_path / "broken", name="")
    refused = CliRunner().invoke(app, ["run", str(broken), "--endpoint", "http://127.0.0.1:1/"])
    assert (refused.exit_code, "scenario.json: name" in refused.output) == (2, True)
    refused = CliRunner().invoke(app, ["run", "scenarios/mesh.toml", "--endpoint", "http://127.0.0.1:1/"])
    assert (refused.exit_code, "--endpoint is for the folder" in refused.output) == (2, True)
