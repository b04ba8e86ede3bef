"""Controls: what one agent, with all briefs or without its peers, or a team without a channel does on its tasks."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final

from concord.assessment import AssessmentPlan
from concord.assessment.result_row import ControlRecord
from concord.assessment.results import TrialRecord
from concord.assessment.task_spec import Control
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.statistics import mean_interval
from concord_evaluator.trace.agent_ids import participant_of

ONE_AGENT: Final = ("alone", "solo")
"""The controls that one agent plays: the team's lift is over it."""


@dataclass(frozen=True, slots=True)
class _Pair:
    """The trials of the team and of a control on one instance; None where a trial was lost."""

    task_id: str
    agent: str
    """Who was alone; empty for a silent team."""
    team: TrialRecord | None
    control: TrialRecord | None

    @property
    def gap(self) -> float | None:
        """Team minus control; None if either has no outcome."""
        team, control = _outcome(self.team), _outcome(self.control)
        return None if team is None or control is None else team - control

    def bound(self, unknown: float) -> float:
        """The gap if an unknown outcome of the team were `unknown`, and of the control the opposite."""
        team, control = _outcome(self.team), _outcome(self.control)
        return (unknown if team is None else team) - (1 - unknown if control is None else control)


def control_records(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> list[ControlRecord]:
    """The controls of an assessment, over its planned pairs of trials; none of a control without a known gap."""
    found = (_record(plan, control, pairs) for control, pairs in _pairs(plan, trials).items())
    return [record for record in found if record is not None]


def solo_pairs(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> list[tuple[TrialRecord, TrialRecord]]:
    """The trials of the team, each with that of one agent with all briefs, where both have an outcome."""
    pairs = _pairs(plan, trials)[Control.SOLO]
    return [(pair.team, pair.control) for pair in pairs if pair.gap is not None and pair.team and pair.control]


def _pairs(plan: AssessmentPlan, trials: Sequence[JudgedTrial]) -> dict[Control, list[_Pair]]:
    """The planned pairs of each control; of several agents, those of the one that does best on the other tasks."""
    records = {trial.record.trial_id: trial.record for trial in trials if trial.record.usable}
    of_team = {
        (trial.task_id, trial.run, trial.instance): records.get(trial.trial_id)
        for trial in plan.trials
        if not plan.task(trial.task_id).is_control
    }
    pairs: defaultdict[Control, list[_Pair]] = defaultdict(list)
    for trial in plan.trials:
        task = plan.task(trial.task_id)
        control = task.control or (task.family and task.family.control)
        instance = task.played_with, trial.run, trial.instance
        if control and instance in of_team:
            agent = (task.family and task.family.solo_by) or ""
            team = of_team[instance]
            pairs[control].append(_Pair(task.played_with, agent, team, records.get(trial.trial_id)))
    return {control: _best_elsewhere(pairs[control]) for control in Control}


def lift_of(records: Iterable[ControlRecord]) -> ControlRecord | None:
    """The control that one agent played; of two, the one in the user's own tasks."""
    by_control = {record.control: record for record in records}
    return next((by_control[control] for control in ONE_AGENT if control in by_control), None)


def _outcome(record: TrialRecord | None) -> float | None:
    return None if record is None or record.grading is None else record.grading.value


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
            _outcome(pair.control) or 0.0
            for other, agents in by_task.items()
            if other != task_id
            for pair in agents.get(agent, ())
        ]
        return fmean(found) if found else 0.0

    return max(by_agent, key=elsewhere)  # of equals the first


def _record(plan: AssessmentPlan, control: Control, pairs: Sequence[_Pair]) -> ControlRecord | None:
    known = [pair for pair in pairs if pair.gap is not None]
    if not known:
        return None
    tasks = [pair.task_id for pair in pairs]
    low = mean_interval([pair.bound(0.0) for pair in pairs], tasks, scale=(-1.0, 1.0))
    high = mean_interval([pair.bound(1.0) for pair in pairs], tasks, scale=(-1.0, 1.0))
    return ControlRecord(
        control=control.value,
        trials=len(known),
        tasks=len({pair.task_id for pair in known}),
        team=fmean(_outcome(pair.team) or 0.0 for pair in known),
        value=fmean(_outcome(pair.control) or 0.0 for pair in known),
        gap=fmean(pair.gap or 0.0 for pair in known),
        gap_low=None if low is None else max(-1.0, low.low),
        gap_high=None if high is None else min(1.0, high.high),
        cut_off=_cut_off(plan, known) if control is Control.ALONE else None,
    )


def _cut_off(plan: AssessmentPlan, pairs: Sequence[_Pair]) -> bool | None:
    """Whether the starting agent was without its peers in the controls, by its calls; None if nothing shows it.

    It was not if a peer answered a call there. It was if the gateway carried all its known calls in the team's trials,
    of which there are some: then it calls peers at the addresses that the control takes away.
    """
    names = {entry.id for entry in plan.roster}

    def between(record: TrialRecord | None) -> list[tuple[str, int, int, int]]:
        calls = [] if record is None else record.interactions
        ends = [(participant_of(call.caller), participant_of(call.callee), call) for call in calls]
        return [
            (caller, call.calls, call.observed, call.errors)
            for caller, callee, call in ends
            if caller != callee and {caller, callee} <= names
        ]

    if any(calls > errors for pair in pairs for _, calls, _, errors in between(pair.control)):
        return False
    made = [each for pair in pairs for each in between(pair.team) if each[0] == plan.config.start]
    if plan.observed and made and all(calls == observed for _, calls, observed, _ in made):
        return True
    return None
