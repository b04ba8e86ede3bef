"""Trials that are played again: which ones, and on which tasks."""

from collections.abc import Collection
from typing import Final

from concord.assessment.plan import AssessmentPlan, TrialSpec
from concord.assessment.task_spec import TaskSpec
from concord.wire.ids import new_trace_id

MAX_ATTEMPTS: Final = 2
"""How often a trial is played at most."""


def with_replays(plan: AssessmentPlan, lost: Collection[str]) -> AssessmentPlan:
    """The plan in which the lost trials (their ids) are played again, each with a new trace.

    A team has seen its task, so a family generates another one. The controls of this task are played again with it, so
    that they are compared on the same task. A control that alone was lost is played again on the task of its team.
    Trials that were played twice stay as they are.
    """
    tasks = {task.id: task for task in plan.tasks}

    def pair(trial: TrialSpec) -> tuple[str, int]:
        return tasks[trial.task_id].played_with, trial.run

    again = [trial for trial in plan.trials if trial.trial_id in lost and trial.attempt < MAX_ATTEMPTS]
    drawn_again = {pair(trial) for trial in again if _draws(tasks[trial.task_id])}
    return plan.model_copy(
        update={
            "trials": [
                _again(trial, other_task=pair(trial) in drawn_again)
                if trial.attempt < MAX_ATTEMPTS and (trial.trial_id in lost or pair(trial) in drawn_again)
                else trial
                for trial in plan.trials
            ]
        }
    )


def _draws(task: TaskSpec) -> bool:
    """Whether another attempt is at another task."""
    return task.family is not None and not task.is_control


def _again(trial: TrialSpec, *, other_task: bool) -> TrialSpec:
    changes = {"trace_id": new_trace_id(), "attempt": trial.attempt + 1}
    return trial.model_copy(update=changes | ({"instance": trial.instance + 1} if other_task else {}))
