"""The kind within which a row is ranked: what was played, by how many seats, and under which rules."""

import json
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from math import gcd
from typing import Final

from concord.assessment import AssessmentPlan, Mode, TaskSpec
from concord.assessment.result_row import Basis, RankingKind
from concord.assessment.suite_tasks import manifest_of
from concord.assessment.task_spec import FamilyTask
from concord.suite import Topology
from concord_evaluator.scoring import SCORING_VERSION

_NO_TASKS: Final = {Mode.GROUND_TRUTH: "patterns", Mode.RECORDED: "traces"}


def ranking_kind(plan: AssessmentPlan, basis: Basis, *, complete: bool) -> RankingKind:
    """The kind of the plan's row. Shards of one assessment have the same; controls do not count."""
    played = _played(plan)
    families = [task for task in played if task.family is not None]
    found = [task.family for task in families if task.family is not None]
    whole = len(set(Counter(task.id for task in played).values())) == 1
    manifest = manifest_of({task.id: task for task in families}.values()) if len(families) == len(played) else None
    published = manifest is not None and whole and plan.mode is Mode.LIVE and not plan.planted_faults
    tasks = manifest if manifest is not None and published else _tasks_text(plan, played)
    return RankingKind(
        version=SCORING_VERSION,
        basis=basis,
        tasks=f"{tasks} with planted faults" if plan.planted_faults else tasks,
        published=published,
        tasks_sha256=None if plan.mode in _NO_TASKS else _digest(plan, played),
        seats=tuple(sorted({len(plan.agents(task.id)) for task in families})),
        exchange=tuple(sorted({each.exchange.value for each in found})),
        difficulty=tuple(sorted({each.difficulty for each in found})),
        topology=tuple(sorted({_topology(each) for each in found})),
        isolation="not isolated" if plan.seat_containers is None else "isolated",
        complete=complete,
    )


def _played(plan: AssessmentPlan) -> list[TaskSpec]:
    """The tasks of all shards together, once for each time that the assessment plays them."""
    trials = plan.config.num_instances or plan.config.num_runs * len(plan.tasks)
    tasks = [plan.tasks[number % len(plan.tasks)] for number in range(trials)] if plan.tasks else []
    return [task for task in tasks if not task.is_control]


def _tasks_text(plan: AssessmentPlan, played: Sequence[TaskSpec]) -> str:
    if plan.mode in _NO_TASKS:
        return _NO_TASKS[plan.mode]
    if any(task.family is None and task.scenario is None for task in played):
        return "own tasks"
    return "scenarios" if any(task.scenario for task in played) else "families"


def _digest(plan: AssessmentPlan, played: Sequence[TaskSpec]) -> str:
    """Over the tasks in any order, and how often each is played relative to the others (hex)."""
    times = Counter(_content(plan, task) for task in played)
    common = gcd(*times.values())
    return sha256(json.dumps(sorted((text, n // common) for text, n in times.items())).encode()).hexdigest()


def _content(plan: AssessmentPlan, task: TaskSpec) -> str:
    """What makes a task, as JSON: no id, and no name of a participant."""
    content = task.model_dump(mode="json", include={"text", "scenario", "target", "scorer"})
    if task.family is not None:
        content["family"] = {
            **task.family.model_dump(mode="json", include={"name", "difficulty", "exchange", "max_rounds"}),
            "seats": len(plan.agents(task.id)),
            "topology": _topology(task.family),
        }
    return json.dumps(content, sort_keys=True)


def _topology(family: FamilyTask) -> str:
    """The topology's name, or `edges` with a digest that does not depend on the names of the seats."""
    if isinstance(family.topology, Topology):
        return family.topology.value
    near: dict[str, set[str]] = {seat: set() for edge in family.topology for seat in edge}
    for one, other in family.topology:
        near[one].add(other)
        near[other].add(one)
    colours = dict.fromkeys(near, "")
    for _ in near:  # refined until each colour tells all that is seen from its seat (Weisfeiler and Leman)
        colours = {seat: _short([colours[seat], *sorted(colours[each] for each in near[seat])]) for seat in near}
    return f"edges {_short(sorted(colours.values()))}"


def _short(parts: Sequence[str]) -> str:
    return sha256(json.dumps(parts).encode()).hexdigest()[:16]
