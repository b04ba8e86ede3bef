"""`docs/tutorial.md`: its commands work one after the other; an assessment itself is replaced by the row of one."""

import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from concord.assessment.result_row import ResultRow, ResultsDocument
from concord_cli import commands
from concord_cli.main import app
from concord_cli.scenario.scenario_file import check_config, read_scenario
from concord_suites.habits import Habit
from tests.kit.team_rows import row_of
from tests.kit.team_task_rows import failure, flow_of, seat_names, team_task, trial_with

TEXT = (Path(__file__).parents[3] / "docs" / "tutorial.md").read_text(encoding="utf-8")
TASKS = ("maximum", "prefix-sums", "distributed-sort", "shortest-path", "majority", "hidden-profile")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", TEXT, re.MULTILINE | re.DOTALL)


def commands_of_concord() -> list[list[str]]:
    lines = [line for block in blocks("sh") for line in block.splitlines()]
    return [shlex.split(line)[1:] for line in lines if line.startswith("concord ")]


def assessed(scenario: Path) -> ResultRow:
    """A row of the tutorial's team: wrong wherever the faulty seat's fact is needed."""
    faulty = "withholding@agent/2" in scenario.read_text()
    trials = []
    for number, task in enumerate(TASKS, 1):
        failures = [failure("agent/2")] if faulty else []
        trial = trial_with(team_task(flow_of(), failures), trial_id=f"trial-{number}", task_id=task)
        trials.append(trial.model_copy(update={"overall_score": 0.1 * number if faulty else 1.0}))
    return row_of(seat_names(5), *trials)


async def run(path: Path, output: Path, *_: object, **__: object) -> None:
    write_results_of(path, output)


def write_results_of(path: Path, output: Path) -> None:
    check_config(path, read_scenario(path))
    output.parent.mkdir(exist_ok=True)
    output.write_text(ResultsDocument(participants={}, results=[assessed(path)]).model_dump_json())


def test_the_commands_lead_from_a_faulty_team_to_a_better_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(commands, "run", run)
    monkeypatch.setattr("webbrowser.open", lambda _: True)
    team, fix = blocks("toml")
    scenario = tmp_path / "team.toml"
    scenario.write_text(team)
    said = {}
    for arguments in commands_of_concord():
        if "runs/after.json" in arguments and arguments[0] == "run":
            scenario.write_text(re.sub(r"^cmd = .*\n", fix, team, flags=re.MULTILINE))
        result = CliRunner().invoke(app, arguments)
        assert result.exit_code == 0, (arguments, result.output)
        said[arguments[0]] = result.output

    assert list(said) == ["run", "report", "compare", "view"]
    assert "after is better" in said["compare"]
    assert (tmp_path / "runs" / "before.html").is_file()
    assert (tmp_path / "runs" / "index.html").is_file()


def test_the_tasks_and_the_fault_of_the_team_exist(tmp_path: Path) -> None:
    scenario = tmp_path / "team.toml"
    scenario.write_text(blocks("toml")[0])
    read = read_scenario(scenario)

    assert tuple(read.config["suite"]) == TASKS  # type: ignore[arg-type]
    assert Habit("withholding")
