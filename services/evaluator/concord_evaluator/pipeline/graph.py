"""The graph evaluator: metrics, findings and structure of the agent graph."""

from collections.abc import Mapping

from concord.assessment.results import MetricRecord, MetricStatus
from concord_evaluator.findings import METRICS_NEEDED, find
from concord_evaluator.graph import build_graph
from concord_evaluator.metrics import measure, metric_ids
from concord_evaluator.pipeline.evaluator import Contribution, TrialInput, evaluator
from concord_evaluator.pipeline.timeline import call_records
from concord_evaluator.scoring import structure_of
from concord_evaluator.trace import of_team, unseen_in


@evaluator("graph", tier=1)
def evaluate_graph(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Measures what the configuration asks for and what the findings need; only the former is shown."""
    unseen = unseen_in(trial.participants)
    graph = build_graph(trial.projection, completed=trial.completed, unseen=unseen)
    seen = of_team(trial.participants) != "none"
    shown = trial.config.chosen_metrics(metric_ids())
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    measured = measure(graph, needed | shown, time_is_up=trial.time_is_up)
    findings = find(graph, measured, trial.config.thresholds)
    return Contribution(
        metrics=tuple(record if seen else _unknown(record) for record in measured if record.id in shown),
        findings=tuple(findings),
        structure=structure_of(graph, findings, seen=seen),
        calls=graph.tally,
        timeline=tuple(call_records(graph)),
    )


def _unknown(record: MetricRecord) -> MetricRecord:
    """A figure of what could not be seen is none."""
    reason = "no call of any participant could have been seen"
    return record.model_copy(update={"value": None, "status": MetricStatus.UNDEFINED, "reason": reason})
