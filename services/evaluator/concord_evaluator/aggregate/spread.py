"""How far the figures of a row may be trusted: intervals over its trials, and what may be claimed."""

from collections import defaultdict
from collections.abc import Sequence

from concord.results import PassPower, Statistics
from concord_evaluator.aggregate.trials import EvaluatedTrial
from concord_evaluator.statistics import Confidence, Interval, confidence_in, mean_interval, pass_power, rate_interval


def statistics_of(usable: Sequence[EvaluatedTrial]) -> Statistics:
    """The intervals over the usable trials that have a score."""
    passes = _passes_by_task(usable)
    passed = [each for runs in passes.values() for each in runs]
    rate = rate_interval(sum(passed), len(passed)) if len(passed) > 1 else None
    score = _score_interval(usable)
    most_runs = max(map(len, passes.values()), default=0)
    powers = ((k, pass_power(list(passes.values()), k)) for k in range(1, most_runs + 1))
    return Statistics(
        scenarios=len(passes),
        trials=len(passed),
        pass_rate_low=None if rate is None else 100 * rate.low,
        pass_rate_high=None if rate is None else 100 * rate.high,
        score_low=None if score is None else 100 * max(0.0, score.low),
        score_high=None if score is None else 100 * min(1.0, score.high),
        score_method=None if score is None or score.method == "wilson" else score.method,
        pass_power=[PassPower(k=k, value=value) for k, value in powers if value is not None],
    )


def confidence_of(usable: Sequence[EvaluatedTrial]) -> Confidence:
    """By the width of the score's interval, over trials that tell of coordination: a single agent's never do."""
    telling = [trial for trial in usable if trial.structure is not None and trial.structure.communication is not None]
    return confidence_in(_score_interval(telling), len({trial.record.task_id for trial in telling}))


def _score_interval(trials: Sequence[EvaluatedTrial]) -> Interval | None:
    scored = [(trial.record.overall_score, trial.record.task_id) for trial in trials]
    known = [(score, task) for score, task in scored if score is not None]
    return mean_interval([score for score, _ in known], [task for _, task in known])


def _passes_by_task(trials: Sequence[EvaluatedTrial]) -> dict[str, list[bool]]:
    passes: defaultdict[str, list[bool]] = defaultdict(list)
    for trial in trials:
        if trial.record.passed is not None:
            passes[trial.record.task_id].append(trial.record.passed)
    return dict(passes)
