"""The shipped manifests: versioned selections of tasks, without seeds, that can all be generated."""

import json

import pytest

from concord.assessment.request import AssessmentConfig
from concord.assessment.suite_tasks import SuiteManifest, requested_tasks
from concord.suite import Draw, Group, Topology, installed_manifests, neighbours_in
from concord_suites import SUITE

EACH_MANIFEST = pytest.mark.parametrize("name", sorted(SUITE.manifests))


def test_the_standard_manifest_has_24_tasks_of_all_groups_and_the_quick_one_3() -> None:
    tasks = requested_tasks(AssessmentConfig(suite=["standard-1"]))
    names = {task.family.name for task in tasks if task.family is not None}
    assert len(tasks) == len(names) == 24
    assert {SUITE.families[name].group for name in names} == set(Group)
    assert len(requested_tasks(AssessmentConfig(suite=["quick"]))) == 3


@EACH_MANIFEST
def test_a_manifest_is_found_under_its_name_and_holds_no_seeds(name: str) -> None:
    document = json.loads(installed_manifests()[name])
    assert SuiteManifest.model_validate(document).name == name
    assert "seed" not in json.dumps(document)


@EACH_MANIFEST
def test_every_task_of_a_manifest_can_be_generated(name: str) -> None:
    for task in SuiteManifest.model_validate_json(installed_manifests()[name]).tasks:
        assert isinstance(task.topology, Topology)
        team = [f"agent/{number}" for number in range(1, (task.seats or 5) + 1)]
        neighbours = neighbours_in(task.topology, team, Draw(task.id.encode()))
        made = SUITE.families[task.name].generate(task.id.encode(), neighbours, task.difficulty)
        assert made.parts
