"""Days in the office as tasks: names that clients may ask for, and values that follow from the assessment's secret."""

from pathlib import Path

import pytest

from concord.assessment.plan import TrialSpec
from concord.assessment.suite_tasks import day_secret, manifest_of
from concord.assessment.task_spec import TaskSpec
from concord_assistant.office.published import MANIFEST, OFFICE_1
from concord_gateway.assistants import NoScenarioError
from concord_gateway.assistants.contexts import Scenarios

SCENARIOS = Scenarios([Path("scenarios/assistant")])
DAY = "office-1-01"
ONE, OTHER = bytes(32), b"\1" * 32


def trial(run: int) -> TrialSpec:
    return TrialSpec(trial_id=f"trial-{run}", task_id=DAY, run=run, seed=0, trace_id="0")


def test_a_manifest_is_a_task_for_each_of_its_days() -> None:
    tasks = SCENARIOS.tasks_of(TaskSpec(id=MANIFEST, scenario=MANIFEST))
    assert [(task.id, task.scenario) for task in tasks] == [(name, name) for name in OFFICE_1]


def test_a_row_of_all_days_of_a_manifest_has_its_name() -> None:
    tasks = SCENARIOS.tasks_of(TaskSpec(id=MANIFEST, scenario=MANIFEST))
    assert manifest_of(tasks) == MANIFEST
    assert manifest_of(tasks[:-1]) is None


def test_the_text_of_a_day_names_its_errands_and_none_of_its_values() -> None:
    [task] = SCENARIOS.tasks_of(TaskSpec(id="mine", scenario=DAY))
    assert (task.id, task.text) == ("mine", "A day in the office: order")


@pytest.mark.parametrize("name", ["office-1-99", "office-", "office-2"])
def test_a_day_that_nobody_published_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(NoScenarioError, match=rf"called '{name}'; there are: .*office-1-01"):
        SCENARIOS.tasks_of(TaskSpec(id="x", scenario=name))


def test_runs_of_a_day_and_other_secrets_have_other_values() -> None:
    task = TaskSpec(id=DAY, scenario=DAY)
    secrets = [day_secret(master, task, trial(run)) for master in (ONE, OTHER) for run in (1, 2)]
    assert len(set(secrets)) == 4
    prompts = {SCENARIOS.day(DAY, secret).config.user_prompt for secret in secrets}
    assert len(prompts) == 4


def test_the_same_secret_gives_the_same_day_to_the_gateway_and_to_who_plays_it_again() -> None:
    secret = day_secret(ONE, TaskSpec(id=DAY, scenario=DAY), trial(1))
    assert SCENARIOS.day(DAY, secret).config == SCENARIOS.day(DAY, secret).config
