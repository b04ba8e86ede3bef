"""How far the figures of a row may be trusted: intervals over its trials, and what may be claimed."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from concord.assessment import Mode
from concord.assessment.results import PassPower, Statistics
from concord_evaluator.aggregate.scores import Scores, TrialScore
from concord_evaluator.aggregate.trials import EvaluatedTrial
from concord_evaluator.statistics import Confidence, Interval, confidence_in, mean_interval, pass_power, rate_interval


def statistics_of(scores: Scores) -> Statistics:
    """The intervals over all trials that count, from what they are at least to what they are at most.

    Where nobody judged a trial, it failed for the lower end and was perfect for the upper one.
    """
    trials = scores.trials if scores.overall is not None else ()
    passes = _passes_by_task(trials)
    low, high = score_intervals(scores)
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
        pass_power=[PassPower(k=k, value=value) for k, value in powers if value is not None],
    )


def confidence_of(scores: Scores, usable: Sequence[EvaluatedTrial], mode: Mode) -> Confidence:
    """By the width of the score's interval; for structure alone, over trials of teams: one agent has none."""
    if mode is Mode.LIVE:
        low, high = score_intervals(scores)
        n_tasks = len({trial.task_id for trial in scores.trials})
        if low is None or high is None:
            return confidence_in(None, n_tasks)
        return confidence_in(replace(low, high=high.high), n_tasks)
    telling = [trial for trial in usable if trial.structure is not None and trial.structure.communication is not None]
    known = [(score, trial.record.task_id) for trial in telling if (score := trial.record.overall_score) is not None]
    interval = mean_interval([score for score, _ in known], [task for _, task in known])
    return confidence_in(interval, len({trial.record.task_id for trial in telling}))


def score_intervals(scores: Scores) -> tuple[Interval | None, Interval | None]:
    """The intervals of the mean score, with what nobody judged at its least and at its most."""
    if scores.overall is None:
        return None, None
    tasks = [trial.task_id for trial in scores.trials]
    return (
        mean_interval([trial.low for trial in scores.trials], tasks),
        mean_interval([trial.high for trial in scores.trials], tasks),
    )


def _passes_by_task(trials: Sequence[TrialScore]) -> dict[str, list[bool]]:
    passes: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        passes[trial.task_id].append(trial.passed_low)
    return dict(passes)
