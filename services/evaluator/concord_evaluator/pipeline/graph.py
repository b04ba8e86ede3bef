"""The graph evaluator: metrics, findings and structure of the agent graph."""

from collections.abc import Mapping

from concord_evaluator.findings import METRICS_NEEDED, find
from concord_evaluator.graph import build_graph
from concord_evaluator.metrics import measure, metric_ids
from concord_evaluator.pipeline.evaluator import Contribution, TrialInput, evaluator
from concord_evaluator.pipeline.timeline import call_records
from concord_evaluator.scoring import structure_of


@evaluator("graph", tier=1)
def evaluate_graph(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Measures what the configuration asks for and what the findings need; only the former is shown."""
    graph = build_graph(trial.projection, completed=trial.completed)
    shown = trial.config.chosen_metrics(metric_ids())
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    measured = measure(graph, needed | shown)
    findings = find(graph, measured, trial.config.thresholds)
    return Contribution(
        metrics=tuple(record for record in measured if record.id in shown),
        findings=tuple(findings),
        structure=structure_of(graph, findings),
        calls=graph.tally,
        timeline=tuple(call_records(graph)),
    )
