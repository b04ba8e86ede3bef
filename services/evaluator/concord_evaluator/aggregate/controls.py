"""Controls: the results of one agent alone, and of a team without a channel, on the team's instances."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Final, Literal, NamedTuple

from concord.assessment import AssessmentPlan
from concord.assessment.result_row import ControlRecord
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.statistics import mean_interval

_KINDS: Final[tuple[Literal["solo", "silent"], ...]] = ("solo", "silent")


class _Pair(NamedTuple):
    """The outcomes of the team and of a control on one instance."""

    task_id: str
    agent: str
    """Who was alone; empty for a silent team."""
    team: float
    control: float


def is_control(plan: AssessmentPlan, task_id: str) -> bool:
    """Whether a task is a control, whose trials count in no score."""
    spec = plan.task(task_id).family
    return spec is not None and spec.control is not None


def control_records(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> list[ControlRecord]:
    """The controls of an assessment, over usable pairs of trials."""
    usable = [trial for trial in trials if trial.record.usable]
    team = {
        (each.record.task_id, each.record.run): _outcome(each)
        for each in usable
        if not is_control(plan, each.record.task_id)
    }
    records = []
    for kind in _KINDS:
        pairs = []
        for trial in usable:
            spec = plan.task(trial.record.task_id).family
            if spec is None or spec.control is None or spec.control.value != kind:
                continue
            of_team = team.get((spec.paired_with or "", trial.record.run))
            if of_team is not None:
                pairs.append(_Pair(spec.paired_with or "", spec.solo_by or "", of_team, _outcome(trial)))
        if pairs:
            records.append(_record(kind, _best_elsewhere(pairs)))
    return records


def _outcome(trial: JudgedTrial) -> float:
    grading = trial.record.grading
    return 0.0 if grading is None or grading.value is None else grading.value


def _best_elsewhere(pairs: Sequence[_Pair]) -> list[_Pair]:
    """Of each task, the pairs of the agent that does best on the other tasks; with one task, of the first agent.

    Choosing an agent on the tasks that it is compared on would favour the controls by their luck.
    """
    by_task: defaultdict[str, defaultdict[str, list[_Pair]]] = defaultdict(lambda: defaultdict(list))
    for pair in pairs:
        by_task[pair.task_id][pair.agent].append(pair)
    return [pair for task_id, by_agent in by_task.items() for pair in by_agent[_chosen(task_id, by_agent, by_task)]]


def _chosen(
    task_id: str, by_agent: Mapping[str, Sequence[_Pair]], by_task: Mapping[str, Mapping[str, Sequence[_Pair]]]
) -> str:
    def elsewhere(agent: str) -> float:
        found = [
            pair.control for other, agents in by_task.items() if other != task_id for pair in agents.get(agent, ())
        ]
        return fmean(found) if found else 0.0

    return max(by_agent, key=elsewhere)  # of equals the first


def _record(kind: Literal["solo", "silent"], pairs: Sequence[_Pair]) -> ControlRecord:
    gaps = [pair.team - pair.control for pair in pairs]
    interval = mean_interval(gaps, [pair.task_id for pair in pairs])
    return ControlRecord(
        control=kind,
        trials=len(pairs),
        team=fmean(pair.team for pair in pairs),
        value=fmean(pair.control for pair in pairs),
        gap=fmean(gaps),
        gap_low=None if interval is None else interval.low,
        gap_high=None if interval is None else interval.high,
    )
