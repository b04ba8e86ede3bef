"""Means over trials: of metrics, findings and the parts of the score."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Final, TypeVar

from concord.assessment.results import (
    MAX_STEP_IDS,
    Finding,
    MetricParameter,
    MetricRecord,
    MetricStatus,
    SubScore,
    TrialRecord,
)
from concord_evaluator.aggregate.trials import mean

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
