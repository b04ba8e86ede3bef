"""Scenarios of assistants on the command line: linting them, and running one."""

import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord_cli.errors import UsageError
from concord_cli.main import app
from concord_cli.scenario.assistant import assistant_scenario, is_played_by_oracle
from tests.unit.assistant.scenario.folders import email_at, with_events, write

FIRST_DAY = Path("scenarios/assistant/first_day")


def test_lint_names_each_fault_and_fails(tmp_path: Path) -> None:
    late = write(tmp_path / "late", state=with_events(email_at("2027-01-01T00:00:00Z")))
    broken = write(tmp_path / "broken", name="")
    result = CliRunner().invoke(app, ["scenario", "lint", str(FIRST_DAY), str(late), str(broken)])
    assert result.exit_code == 1
    assert f"{FIRST_DAY}: no faults" in result.output
    assert f"{late}/initial_state.json:1: initial_state.events[0]: is due at 2027-01-01T00:00:00+00:00" in result.output
    assert "(unreachable-event)" in result.output
    assert f"{broken}/scenario.json:1: name:" in result.output
    assert "2 faults in 3 scenarios" in result.output


def test_lint_succeeds_without_faults() -> None:
    assert CliRunner().invoke(app, ["scenario", "lint", str(FIRST_DAY)]).exit_code == 0


def test_a_folder_is_the_assessment_of_the_assistant_at_the_endpoint() -> None:
    scenario = assistant_scenario(FIRST_DAY, "http://127.0.0.1:9021/")
    assert scenario.endpoints == {"assistant": "http://127.0.0.1:9021/"}
    assert scenario.config == {"scenario": "first_day"}
    assert not is_played_by_oracle(scenario)


def _configure(monkeypatch: pytest.MonkeyPatch, **variables: str) -> None:
    for name in ("API_KEY", "PROVIDER", "MODEL"):
        monkeypatch.delenv(f"AGENTBEATS_LLM_{name}", raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(f"AGENTBEATS_LLM_{name}", value)


def test_without_an_endpoint_concords_assistant_with_a_model_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    _configure(monkeypatch, API_KEY="k")
    scenario = assistant_scenario(FIRST_DAY, None)
    [assistant] = scenario.local
    assert (assistant.role, assistant.cmd) == ("assistant", "python -m concord_purple --assistant model")
    assert not is_played_by_oracle(scenario)


@pytest.mark.parametrize("variables", [{}, {"API_KEY": "k", "PROVIDER": "anthropic", "MODEL": "m"}])
def test_without_a_model_that_an_assistant_can_use_the_oracle_plays_under_its_own_name(
    variables: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _configure(monkeypatch, **variables)
    folder = write(tmp_path / "a folder")
    (folder / "oracle.json").write_text('{"actions": []}')
    scenario = assistant_scenario(folder, None)
    [oracle] = scenario.local
    assert oracle.role == "oracle"
    assert shlex.split(oracle.cmd or "")[-2:] == ["--oracle", str(folder.resolve() / "oracle.json")]
    assert is_played_by_oracle(scenario)


def test_without_a_model_and_an_oracle_there_is_nobody_to_assess(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    _configure(monkeypatch)
    with pytest.raises(UsageError, match=r"there is nobody to assess: .* --assistant, set AGENTBEATS_LLM_API_KEY"):
        assistant_scenario(write(tmp_path / "bare"), None)


def test_an_endpoint_that_is_not_a_url_is_refused() -> None:
    with pytest.raises(UsageError, match="--assistant: nowhere is not the URL"):
        assistant_scenario(FIRST_DAY, "nowhere")


def test_run_refuses_a_broken_folder_and_an_endpoint_beside_a_toml_file(tmp_path: Path) -> None:
    broken = write(tmp_path / "broken", name="")
    refused = CliRunner().invoke(app, ["run", str(broken), "--endpoint", "http://127.0.0.1:1/"])
    assert (refused.exit_code, "scenario.json:1: name" in refused.output) == (2, True)
    refused = CliRunner().invoke(app, ["run", "scenarios/mesh.toml", "--endpoint", "http://127.0.0.1:1/"])
    assert (refused.exit_code, "--assistant is for days" in refused.output) == (2, True)
