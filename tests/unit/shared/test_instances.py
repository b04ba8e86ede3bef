"""The digest of what a trial plays: equal for the same puzzle, whoever takes its seats."""

from dataclasses import replace

import pytest

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, plan_trials
from concord.assessment.suite_tasks import instance_digest, instance_of
from concord.assessment.task_spec import FamilyTask
from concord.suite import Topology, installed_families
from concord.wire.roster import RosterEntry

SECRET, OTHER = "ab" * 32, "cd" * 32


def planned(spec: TaskSpec, team: str = "abcd", secret: str | None = SECRET, mode: Mode = Mode.LIVE) -> AssessmentPlan:
    roster = [RosterEntry(id=name, url=f"http://{name}") for name in team]
    config = AssessmentConfig(num_runs=2)
    trials = plan_trials(config, [spec])
    return AssessmentPlan(
        assessment_id="a1", mode=mode, config=config, tasks=[spec], roster=roster, trials=trials, task_secret=secret
    )


def digests(plan: AssessmentPlan) -> list[str | None]:
    return [instance_digest(plan, trial) for trial in plan.trials]


def family_task(name: str, topology: Topology | list[tuple[str, str]] = Topology.STAR) -> TaskSpec:
    return TaskSpec(id="task", family=FamilyTask(name=name, topology=topology))


@pytest.mark.parametrize("name", [family.name for family in installed_families()])
def test_the_names_of_participants_do_not_change_what_is_played(name: str) -> None:
    first, second = digests(planned(family_task(name))), digests(planned(family_task(name), team="wxyz"))
    assert first == second
    assert len(set(first)) == 2, "each run has a puzzle of its own"
    assert set(first).isdisjoint(digests(planned(family_task(name), secret=OTHER)))


def test_listed_edges_are_those_between_the_same_places() -> None:
    def chain(team: str) -> list[str | None]:
        return digests(planned(family_task("maximum", [(team[n], team[n + 1]) for n in range(3)]), team=team))

    assert chain("abcd") == chain("wxyz") != digests(planned(family_task("maximum", Topology.COMPLETE)))


def test_another_text_of_a_generator_is_another_puzzle(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = planned(family_task("maximum"))
    before, made = digests(plan), instance_of(plan, plan.trials[0])
    family = next(family for family in installed_families() if family.name == "maximum")
    monkeypatch.setattr(type(family), "generate", lambda *_: replace(made, question="What is the largest number?"))
    assert set(digests(plan)).isdisjoint(before)


def test_an_own_task_is_identified_by_its_text_in_all_runs() -> None:
    first = digests(planned(TaskSpec(id="one", text="Count the trees."), secret=None))
    assert first == digests(planned(TaskSpec(id="two", text="Count the trees."), team="xy", secret=None))
    assert len(set(first)) == 1
    assert first != digests(planned(TaskSpec(id="one", text="Count the birds."), secret=None))


def test_a_recorded_trace_has_no_digest() -> None:
    assert digests(planned(TaskSpec(id="trace", text="abc"), secret=None, mode=Mode.RECORDED)) == [None, None]
