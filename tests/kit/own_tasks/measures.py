"""Whom the evaluator names for planted faults of own tasks."""

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from concord.assessment import AssessmentConfig, AssessmentPlan, Mode, TaskSpec, TrialSpec
from concord.wire.roster import RosterEntry
from concord_evaluator.own_tasks import causes_of_trial
from concord_evaluator.scorers import grade_answers
from tests.kit.own_tasks.faults import Planted
from tests.kit.traces import TRACE_ID, url_of

MOST_WRONG: Final = 0.02
"""The largest share of trials in which an agent may be named that is not at fault."""


@dataclass
class Named:
    """How often an agent at fault, another one, or nobody was named."""

    planted: int = 0
    right: int = 0
    wrong: int = 0
    kinds: Counter[str] = field(default_factory=Counter)

    @property
    def nobody(self) -> int:
        return self.planted - self.right - self.wrong


def named(fault: Callable[[random.Random], Planted], trials: int) -> Named:
    """Plays a fault a number of times. Counts those whose answers are graded as wrong."""
    counts, number = Named(), 0
    while counts.planted < trials:
        number += 1
        planted = fault(random.Random(f"{fault.__name__} {number}"))  # noqa: S311 - a reproducible draw
        if (found := blamed(planted)) is None:
            continue
        agents, kinds = found
        counts.planted += 1
        counts.right += bool(agents) and agents <= planted.at_fault
        counts.wrong += not agents <= planted.at_fault
        counts.kinds.update(kinds)
    return counts


def blamed(planted: Planted) -> tuple[frozenset[str], list[str]] | None:
    """The agents that are named, and for what. None where the answer is right."""
    plan = plan_of(planted)
    task = plan.tasks[0]
    grading = grade_answers(task, plan.answerers(task.id), planted.outcome)
    if grading is not None and grading.value == 1:
        return None
    found = causes_of_trial(plan, planted.outcome, planted.batches, grading)
    return frozenset(agent for each in found for agent in each.agents), [each.kind for each in found]


def plan_of(planted: Planted) -> AssessmentPlan:
    """The plan of a planted trial."""
    task = TaskSpec.model_validate(
        {
            "id": "task",
            "text": planted.task,
            "scorer": planted.scorer,
            "target": [planted.target] if planted.target else None,
        }
    )
    return AssessmentPlan(
        assessment_id="assessment",
        mode=Mode.LIVE,
        config=AssessmentConfig(start=planted.agents[0]),
        tasks=[task],
        roster=[RosterEntry(id=agent, url=url_of(agent)) for agent in planted.agents],
        trials=[TrialSpec(trial_id="trial-1", task_id="task", run=1, seed=1, trace_id=TRACE_ID)],
    )
