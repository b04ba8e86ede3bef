"""Checks of plans: that they follow from their requests and scenarios, and are the shards of one assessment."""

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assessment.plan import StartedContainers
from concord.assessment.task_spec import Exchange
from concord.bundle import Contents, trial_member
from concord_assistant.conducted import ConductedAssessment
from concord_gateway.assistants import NoScenarioError, Scenarios
from concord_gateway.intake import NotAnAssessmentError, plan_work
from concord_gateway.plan import with_exchange

_OF_A_SHARD: Final = {"shard_index"}
"""The keys of a config that differ between shards."""


def plan_faults(contents: Contents, scenario_folders: Sequence[Path]) -> Iterator[str]:
    """The faults of a plan, one line each. Scenarios and their evaluators must equal those in the folders.

    A bundle's scenarios contain code, so the code of a bundle with faults must not run.
    """
    scenarios = Scenarios(scenario_folders)
    plan, request = contents.plan, contents.request
    try:
        work = plan_work(request, scenarios)
    except NotAnAssessmentError as error:
        yield f"request.json: {error}"
        return
    asked = request.config.model_copy(update={"tasks": None, "task": None, "interaction_pattern": None})
    if asked.model_dump(mode="json") != plan.config.model_dump(mode="json") or request.mode is not plan.mode:
        yield "plan.json: its config differs from the request's"
    if {entry.id: entry.url for entry in plan.roster} != {name: str(url) for name, url in request.participants.items()}:
        yield "plan.json: its roster differs from the request's participants"
    if list(map(_of_request, plan.trials)) != list(map(_of_request, work.trials)):
        yield "plan.json: its trials differ from the trials that the request asks for"
    if plan.planted_faults != len(request.config.faults):
        yield "plan.json: it counts other planted faults than the request has"
    if plan.seat_containers is not None:
        urls = frozenset(entry.url for entry in plan.roster)
        if StartedContainers(urls=urls, containers=plan.seat_containers).around(plan) is None:
            yield "plan.json: its seats cannot have been isolated: some share an address, or there is but one"
    planned = {task.id: task for task in plan.tasks}
    for task in work.tasks:
        if planned.get(task.id) not in _decided(task):
            yield f"plan.json: its task {task.id} differs from the request's"
    yield from _scenario_faults(contents, scenarios)


def _of_request(trial: TrialSpec) -> tuple[str, str, int, int]:
    return trial.trial_id, trial.task_id, trial.run, trial.seed


def _decided(task: TaskSpec) -> list[TaskSpec]:
    """The forms that a task may have in a plan: if the request leaves the exchange open, the participants' cards
    decide it."""
    return [with_exchange(task, exchange) for exchange in (Exchange.ROUNDS, Exchange.CALLS)]


def _scenario_faults(contents: Contents, scenarios: Scenarios) -> Iterator[str]:
    scenario_of = {task.id: task.scenario or "" for task in contents.plan.tasks}
    for trial in contents.plan.trials:
        conducted, name = contents.trials[trial.trial_id].conducted, scenario_of.get(trial.task_id)
        if conducted is None or name is None:
            continue
        member = trial_member(trial.trial_id, "conducted.json")
        try:
            if not _is_of(ConductedAssessment.model_validate_json(conducted), contents.plan, trial, scenarios):
                yield f"{member}: its scenario or its evaluators differ from those of {name!r} in --scenarios"
        except ValidationError:
            yield f"{member}: is not a record of an assistant's turns"
        except NoScenarioError as error:
            yield f"{member}: {error}"


def _is_of(record: ConductedAssessment, plan: AssessmentPlan, trial: TrialSpec, scenarios: Scenarios) -> bool:
    """Whether a record is one of the trial's scenario, with the same criteria and the same code."""
    own = scenarios.of_trial(plan, trial)
    expected = own.config.model_copy(update={"initial_state": record.scenario.initial_state})
    return record.evaluators == own.evaluators and record.scenario == expected


def shard_faults(plans: Sequence[AssessmentPlan]) -> Iterator[str]:
    """The reasons why rows with these plans cannot be the shards of one assessment, one line each."""
    if len(plans) < 2 or all(plan.config.num_shards == 1 for plan in plans):  # assessments of their own
        return
    first = plans[0]
    times = Counter(plan.config.shard_index for plan in plans)
    yield from (f"shard {index} occurs {n} times" for index, n in sorted(times.items()) if n > 1)
    for plan in plans[1:]:
        name = f"shard {plan.config.shard_index}"
        if plan.config.model_dump(exclude=_OF_A_SHARD) != first.config.model_dump(exclude=_OF_A_SHARD):
            yield f"{name} has another config than shard {first.config.shard_index}"
        if {entry.id for entry in plan.roster} != {entry.id for entry in first.roster}:
            yield f"{name} assesses other participants than shard {first.config.shard_index}"
    with_tasks = [plan for plan in plans if plan.tasks]
    for plan in with_tasks[1:]:
        if plan.task_commitment != with_tasks[0].task_commitment:
            first_index = with_tasks[0].config.shard_index
            yield f"shard {plan.config.shard_index} has tasks of another secret than shard {first_index}"


def missing_shards(plans: Sequence[AssessmentPlan]) -> list[int]:
    """The indices of the shards without a plan, in order."""
    if not plans:
        return []
    return sorted(set(range(plans[0].config.num_shards)) - {plan.config.shard_index for plan in plans})
