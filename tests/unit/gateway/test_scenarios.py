"""Scenarios in requests: found by name, with one assistant, and with time for their turns."""

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from concord.assessment import AssessmentRequest
from concord_gateway.assistants import Scenarios
from concord_gateway.intake import NotAnAssessmentError, plan_work
from concord_gateway.settings import GatewaySettings
from tests.unit.assistant.scenario.folders import write

HELPER = {"helper": "http://helper/"}
SHIPPED = Scenarios((Path("scenarios/assistant"),))


def request(participants: dict[str, str] | None = None, **config: Any) -> AssessmentRequest:  # noqa: ANN401
    """A request with this config."""
    return AssessmentRequest.model_validate({"participants": participants or HELPER, "config": config})


def test_each_scenario_is_a_task_whose_text_is_what_the_user_asks() -> None:
    work = plan_work(request(scenario="first_day", num_runs=2), SHIPPED)
    assert [(task.id, task.scenario) for task in work.tasks] == [("first_day", "first_day")]
    assert work.tasks[0].text.startswith("Please do this for me today:")
    assert [trial.task_id for trial in work.trials] == ["first_day", "first_day"]
    assert len({trial.seed for trial in work.trials}) == 2


def test_a_trial_in_a_scenario_may_take_longer_than_others() -> None:
    assert plan_work(request(scenario="first_day"), SHIPPED).limits.trial_s == 270 * 60
    assert plan_work(request(scenario="first_day", trial_timeout_s=60), SHIPPED).limits.trial_s == 60
    assert plan_work(request(task="Say something."), SHIPPED).limits.trial_s == 300


def test_unknown_and_broken_scenarios_are_refused_with_the_reason(tmp_path: Path) -> None:
    with pytest.raises(NotAnAssessmentError, match=r"no scenario 'nowhere'; there are: .*first_day"):
        plan_work(request(scenario="nowhere"), SHIPPED)
    write(tmp_path / "broken", end_time="never")
    with pytest.raises(NotAnAssessmentError, match=r"broken/scenario\.json:1: end_time"):
        plan_work(request(scenario="broken"), Scenarios((tmp_path,)))


def test_of_scenarios_with_one_name_the_first_folders_counts(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "small", user_prompt=f"From {folder}.")
    assert Scenarios((tmp_path / "a", tmp_path / "b")).load("small").config.user_prompt == "From a."


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        ({"scenario": "first_day", "task": "x"}, "give only one of"),
        ({"scenario": "first_day", "max_turns": 0}, "max_turns"),
        ({"tasks": [{"id": "t", "scenario": "s", "target": "x", "scorer": "includes"}]}, "graded by its criteria"),
        ({"tasks": [{"id": "t", "scenario": "s", "family": {"name": "f"}}]}, "has no `family`"),
    ],
)
def test_a_contradictory_request_is_refused(config: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValidationError, match=reason):
        request(**config)


def test_with_several_participants_one_is_the_assistant() -> None:
    two = HELPER | {"other": "http://other/"}
    with pytest.raises(ValidationError, match="a scenario has one assistant"):
        request(two, scenario="first_day")
    assert request(two, scenario="first_day", start="helper").config.start == "helper"


def test_folders_and_the_environments_command_are_read_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONCORD_SCENARIO_FOLDERS", "one:two")
    monkeypatch.setenv("CONCORD_ENVIRONMENT_COMMAND", "python -m 'my environment'")
    settings = GatewaySettings()
    assert settings.scenario_folders == (Path("one"), Path("two"))
    assert settings.environment_command == ("python", "-m", "my environment")
