"""The score of the row: the mean over its trials, its confidence interval, and what it is ranked with."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from math import gcd
from statistics import fmean
from typing import Final, Literal, TypeVar

from concord.assessment import AssessmentPlan, Mode, TaskSpec
from concord.assessment.result_row import Basis, ControlRecord, Figure, PassPower, RankingKind, Scoring, Statistics
from concord.assessment.results import (
    MAX_STEP_IDS,
    Finding,
    MetricParameter,
    MetricRecord,
    MetricStatus,
    SubScore,
    TrialRecord,
)
from concord.assessment.suite_tasks import manifest_of
from concord.assessment.task_spec import FamilyTask
from concord.suite import Topology
from concord_evaluator.aggregate.team import mean
from concord_evaluator.documents import JudgedTrial
from concord_evaluator.scoring import SCORING_VERSION
from concord_evaluator.statistics import (
    Confidence,
    Interval,
    confidence_in,
    detectable_difference,
    likely_spread,
    mean_interval,
    pass_power,
    rate_interval,
)

# Means over trials: of metrics, findings and the parts of the score.

_AGGREGATION: Final = MetricParameter(name="aggregation", value="mean over trials")

_Item = TypeVar("_Item")
_Key = TypeVar("_Key", bound=Hashable)


def mean_metrics(records: Sequence[TrialRecord]) -> list[MetricRecord]:
    """The mean of each metric of each agent over the trials in which it has a value; `n` counts these trials."""
    groups = _grouped(
        (metric for record in records for metric in record.metrics), lambda metric: (metric.id, metric.agent)
    )
    return [_mean_metric(metrics) for _, metrics in sorted(groups, key=lambda group: (group[0][0], group[0][1] or ""))]


def _mean_metric(metrics: list[MetricRecord]) -> MetricRecord:
    first, valued = metrics[0], [metric for metric in metrics if metric.value is not None]
    status, reason = first.status, first.reason
    if valued:
        approximate = [metric for metric in valued if metric.status is MetricStatus.APPROXIMATE]
        status, reason = (MetricStatus.APPROXIMATE, approximate[0].reason) if approximate else (MetricStatus.OK, None)
    return MetricRecord(
        id=first.id,
        agent=first.agent,
        value=mean(metric.value for metric in valued),
        status=status,
        reason=reason,
        n=len(valued),
        definition_id=first.definition_id,
        engine=first.engine,
        params=[*first.params, _AGGREGATION],
    )


def merge_findings(records: Sequence[TrialRecord]) -> list[Finding]:
    """Merges findings of one kind about the same agents: the mean value, and some of the steps. Most frequent first.

    Contradicted reports come before all others, since false reports put the other findings in doubt.
    """
    groups = _grouped(
        (finding for record in records for finding in record.findings),
        lambda finding: (finding.id, tuple(finding.agents)),
    )
    merged = [_merged_finding(findings) for _, findings in groups]
    return sorted(
        merged, key=lambda finding: (finding.id != "contradicted_reports", -finding.trials, finding.id, finding.agents)
    )


def _merged_finding(findings: list[Finding]) -> Finding:
    step_ids = sorted({step_id for finding in findings for step_id in finding.step_ids})
    return findings[0].model_copy(
        update={
            "value": mean(finding.value for finding in findings),
            "step_ids": step_ids[:MAX_STEP_IDS],
            "trials": len(findings),
        }
    )


def mean_sub_scores(records: Sequence[TrialRecord]) -> list[SubScore]:
    """The mean of each part of the score over the trials in which it is defined."""
    groups = _grouped((part for record in records for part in record.sub_scores), lambda part: part.id)
    return [_mean_sub_score(parts) for _, parts in groups]


def _mean_sub_score(parts: list[SubScore]) -> SubScore:
    defined = [part.value for part in parts if part.value is not None]
    reasons = {part.reason for part in parts}
    return parts[0].model_copy(
        update={
            "value": mean(defined),
            "reason": parts[0].reason if len(reasons) == 1 or not defined else None,
            "inputs": [MetricParameter(name="trials", value=str(len(defined)))],
        }
    )


def _grouped(items: Iterable[_Item], key: Callable[[_Item], _Key]) -> list[tuple[_Key, list[_Item]]]:
    """Groups items by key, in the order of first occurrence."""
    groups: defaultdict[_Key, list[_Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return list(groups.items())


# The kind within which a row is ranked: what was played, by how many seats, and under which rules.

_NO_TASKS: Final = {Mode.GROUND_TRUTH: "patterns", Mode.RECORDED: "traces"}


def ranking_kind(plan: AssessmentPlan, basis: Basis, *, complete: bool) -> RankingKind:
    """The kind of the plan's row. Shards of one assessment have the same; controls do not count."""
    played = _played(plan)
    families = [task for task in played if task.family is not None]
    found = [task.family for task in families if task.family is not None]
    whole = len(set(Counter(task.id for task in played).values())) == 1
    generated = plan.config.max_turns is None and all(task.is_generated for task in played)
    manifest = manifest_of({task.id: task for task in played}.values()) if generated else None
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


# The score, its interval, and what may be claimed from it.

_BASIS: dict[Mode, Basis] = {Mode.LIVE: "outcome", Mode.GROUND_TRUTH: "structure", Mode.RECORDED: "recorded"}


def basis_of(plan: AssessmentPlan) -> Basis:
    """What a score rests on. The user's own tasks have no receipts: their outcome says nothing about teamwork."""
    own = any(task.is_own for task in plan.tasks)
    return "outcome_only" if plan.mode is Mode.LIVE and own else _BASIS[plan.mode]


@dataclass(frozen=True, slots=True)
class TrialScore:
    """The bounds of a trial's score. They differ if a part of it is open; an unjudged one scores from 0 to 1."""

    task_id: str
    low: float
    high: float
    passed_low: bool
    passed_high: bool


@dataclass(frozen=True, slots=True)
class RowScores:
    """The scores of all trials that count, `n_unjudged` of them unknown. If all are, the means are None."""

    trials: tuple[TrialScore, ...]
    n_unjudged: int
    n_lost: int = 0
    """Those of the unjudged trials that have no evaluation."""

    @property
    def overall(self) -> float | None:
        """The mean score. An unjudged trial counts 0."""
        return fmean(trial.low for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def overall_high(self) -> float | None:
        """The mean score if every unjudged trial were perfect."""
        return fmean(trial.high for trial in self.trials) if len(self.trials) > self.n_unjudged else None

    @property
    def pass_rate(self) -> float | None:
        """The percentage of trials that passed. An unjudged trial did not."""
        if len(self.trials) <= self.n_unjudged:
            return None
        return 100 * sum(trial.passed_low for trial in self.trials) / len(self.trials)


def scores_of(plan: AssessmentPlan, records: Sequence[TrialRecord]) -> RowScores:
    """The scores of the usable `records`, and of all other planned trials, which count as unjudged.

    So no team gains by preventing a trial or its evaluation.
    """
    evaluated = {record.trial_id for record in records}
    lost = [trial for trial in plan.trials if trial.trial_id not in evaluated]
    known = [_score(record, plan.config.thresholds.pass_mark) for record in records]
    unknown = [TrialScore(trial.task_id, 0.0, 1.0, passed_low=False, passed_high=True) for trial in lost]
    unjudged = sum(record.overall_score is None for record in records) + len(lost)
    return RowScores((*known, *unknown), unjudged, len(lost))


def _score(record: TrialRecord, mark: float) -> TrialScore:
    value = record.overall_score
    if value is None:
        return TrialScore(record.task_id, 0.0, 1.0, passed_low=False, passed_high=True)
    passed, grading = record.passed is True, record.grading
    high = value if grading is None or grading.high is None else grading.high
    if grading is not None and grading.passed is not None:
        return TrialScore(record.task_id, value, high, passed_low=passed, passed_high=record.passed is not False)
    could = high > value and high >= mark
    return TrialScore(record.task_id, value, high, passed_low=passed, passed_high=passed or could)


def scoring_of(
    plan: AssessmentPlan,
    records: Sequence[TrialRecord],
    scores: RowScores,
    lift: ControlRecord | None,
    n_forfeited: int,
) -> Scoring:
    """How the score was made from the usable records, `n_forfeited` of them of trials that the participants lost."""
    judged = Counter(record.grading.source for record in records if record.grading is not None)
    high = scores.overall_high
    kind = ranking_kind(plan, basis_of(plan), complete=not scores.n_lost and plan.config.trials is None)
    return Scoring(
        version=SCORING_VERSION,
        basis=kind.basis,
        pass_threshold=plan.config.thresholds.pass_mark,
        usable_trials=len(records),
        passed_trials=sum(record.passed is True for record in records),
        judged_by_code=judged["code"],
        judged_by_model=judged["model"],
        judged_by_record=judged["recorded"],
        unjudged=scores.n_unjudged,
        forfeited=n_forfeited,
        replayed=sum(trial.attempt > 1 for trial in plan.trials),
        complete=kind.complete,
        score_high=None if high is None else 100 * high,
        information=_figure(records, "information"),
        economy=_figure(records, "economy"),
        lift=lift,
        ranking_kind=kind.digest,
        ranking_parts=kind,
        sub_scores=mean_sub_scores(records),
    )


def _figure(records: Sequence[TrialRecord], name: Literal["information", "economy"]) -> Figure | None:
    """The mean of a figure of team tasks over the trials that have it, with its interval; None without such trials."""
    known = [
        (record.task_id, value)
        for record in records
        if record.team_task is not None and (value := getattr(record.team_task, name)) is not None
    ]
    if not known:
        return None
    tasks, values = zip(*known, strict=True)
    interval = mean_interval(values, tasks, scale=(0.0, 1.0))
    return Figure(
        value=fmean(values),
        low=None if interval is None else max(0.0, interval.low),
        high=None if interval is None else min(1.0, interval.high),
        trials=len(values),
    )


def statistics_of(scores: RowScores) -> Statistics:
    """The intervals over all trials that count.

    An unjudged trial counts as failed for the lower end and as perfect for the upper end.
    """
    trials = scores.trials if scores.overall is not None else ()
    passes = _passes_by_task(trials)
    low, high = _score_intervals(scores)
    most_runs = max(map(len, passes.values()), default=0)
    powers = ((k, pass_power(list(passes.values()), k)) for k in range(1, most_runs + 1))
    rate_low, rate_high = (
        rate_interval(sum(passed), len(passed)) if len(passed) > 1 else None
        for passed in ([trial.passed_low for trial in trials], [trial.passed_high for trial in trials])
    )
    return Statistics(
        scenarios=len(passes),
        trials=len(trials),
        pass_rate_low=None if rate_low is None else 100 * rate_low.low,
        pass_rate_high=None if rate_high is None else 100 * rate_high.high,
        score_low=None if low is None else 100 * max(0.0, low.low),
        score_high=None if high is None else 100 * min(1.0, high.high),
        score_method=None if low is None or low.method == "wilson" else low.method,
        detectable=_detectable([trial.low for trial in trials]),
        pass_power=[PassPower(k=k, value=value) for k, value in powers if value is not None],
    )


def _detectable(scores: Sequence[float]) -> float | None:
    difference = detectable_difference(likely_spread(scores), len(scores)) if scores else None
    return None if difference is None else 100 * difference


def confidence_of(scores: RowScores, usable: Sequence[JudgedTrial], mode: Mode) -> Confidence:
    """The confidence by the width of the score's interval. Without outcomes, only trials of teams count."""
    if mode is Mode.LIVE:
        low, high = _score_intervals(scores)
        n_tasks = len({trial.task_id for trial in scores.trials})
        if low is None or high is None:
            return confidence_in(None, n_tasks)
        return confidence_in(replace(low, high=high.high), n_tasks)
    teams = [trial for trial in usable if trial.structure is not None and trial.structure.communication is not None]
    known = [(score, trial.record.task_id) for trial in teams if (score := trial.record.overall_score) is not None]
    interval = mean_interval([score for score, _ in known], [task for _, task in known])
    return confidence_in(interval, len({trial.record.task_id for trial in teams}))


def _score_intervals(scores: RowScores) -> tuple[Interval | None, Interval | None]:
    """The intervals of the mean score, with unjudged trials at 0 and at 1."""
    if scores.overall is None:
        return None, None
    tasks = [trial.task_id for trial in scores.trials]
    return (
        mean_interval([trial.low for trial in scores.trials], tasks, scale=(0.0, 1.0)),
        mean_interval([trial.high for trial in scores.trials], tasks, scale=(0.0, 1.0)),
    )


def _passes_by_task(trials: Sequence[TrialScore]) -> dict[str, list[bool]]:
    passes: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        passes[trial.task_id].append(trial.passed_low)
    return dict(passes)
