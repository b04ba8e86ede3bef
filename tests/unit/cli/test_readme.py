"""The README's instructions for newcomers work."""

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment import AssessmentRequest
from concord_cli.main import app
from concord_cli.scenario.scenario_file import read_scenario

ROOT = Path(__file__).parents[3]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", README, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("target", sorted(set(re.findall(r"(?:^ {4}|`)make ([a-z_-]+)", README, re.MULTILINE))))
def test_every_make_target_exists(target: str) -> None:
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE)


@pytest.mark.parametrize("path", sorted(set(re.findall(r"scenarios/\w+\.toml", README))))
def test_every_scenario_exists(path: str) -> None:
    assert (ROOT / path).is_file()


@pytest.mark.parametrize("command", sorted(set(re.findall(r"concord (run|up|assess|evaluate|report)\b", README))))
def test_every_command_exists(command: str) -> None:
    assert CliRunner().invoke(app, [command, "--help"]).exit_code == 0


def test_the_scenario_examples_are_valid(tmp_path: Path) -> None:
    team, green_agent = blocks("toml")
    path = tmp_path / "team.toml"
    path.write_text(team)
    scenario = read_scenario(path)
    request = AssessmentRequest.model_validate({"participants": scenario.endpoints, "config": scenario.config})

    assert request.config.unknown_keys == []

    path.write_text(green_agent + team)
    assert read_scenario(path).green_agent is not None


def test_the_python_example_uses_existing_names() -> None:
    import concord
    import concord.agent.messenger

    [code] = blocks("python")
    names = {"Messenger": concord.agent.messenger, "TraceReporter": concord, "Assignment": concord}

    compile(f"async def answer(message, peer_url):\n{re.sub('^', '    ', code, flags=re.MULTILINE)}", "README", "exec")
    assert set(re.findall(r"\b[A-Z]\w+(?=[(.])", code)) == set(names)
    assert all(hasattr(module, name) for name, module in names.items())
