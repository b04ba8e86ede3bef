"""The built-in evaluators: `graph` and `latency`."""

from collections.abc import Iterator, Mapping

from concord.assessment.results import MAX_CALLS, CallRecord, MetricRecord, MetricStatus
from concord_evaluator.findings import METRICS_NEEDED, find, shown_findings, structural
from concord_evaluator.graph import AgentGraph, build_graph
from concord_evaluator.latency import latencies_of, summarise
from concord_evaluator.metrics import measure, metric_ids
from concord_evaluator.pipeline.evaluator import Contribution, TrialInput, evaluator
from concord_evaluator.scoring import structure_of
from concord_evaluator.trace import team_observability, unseen_participants
from concord_evaluator.trace.columns import NEVER


@evaluator("graph", tier=1)
def evaluate_graph(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Measures the agent graph: metrics, findings, structure and calls.

    Computes the metrics that the configuration asks for and those that the findings need; shows only the former.
    """
    unseen = unseen_participants(trial.participants)
    graph = build_graph(trial.projection, completed=trial.completed, unseen=unseen)
    seen = team_observability(trial.participants) != "none"
    shown = trial.config.chosen_metrics(metric_ids())
    needed: dict[str, dict[str, float]] = {metric_id: {} for metric_id in METRICS_NEEDED}
    measured = measure(graph, needed | shown, time_is_up=trial.time_is_up)
    findings = find(graph, measured, trial.config.thresholds)
    return Contribution(
        metrics=tuple(record if seen else _unknown(record) for record in measured if record.id in shown),
        findings=tuple(shown_findings(findings, trial.shape)),
        structure=structure_of(graph, structural(findings, trial.shape), seen=seen),
        call_tally=graph.tally,
        calls=tuple(call_records(graph)),
    )


def _unknown(record: MetricRecord) -> MetricRecord:
    """The metric without a value, which nobody could have observed."""
    reason = "no participant's calls could be observed"
    return record.model_copy(update={"value": None, "status": MetricStatus.UNDEFINED, "reason": reason})


def call_records(graph: AgentGraph) -> Iterator[CallRecord]:
    """The first `MAX_CALLS` call attempts in causal order, including the assessor's. Parents come first."""
    starts = graph.calls.steps.columns.started_us[graph.calls.row]
    earliest, critical = int(starts[starts != NEVER].min(initial=2**63 - 1)), graph.critical_path.calls
    for index, call in enumerate(graph.calls[:MAX_CALLS]):
        record = call.record
        yield CallRecord(
            step_id=call.step_id,
            parent_step_id=None if call.parent is None else graph.calls[call.parent].step_id,
            caller=call.caller,
            callee=call.callee,
            start_ms=None if record.started_us is None else (record.started_us - earliest) / 1000,
            duration_ms=record.latency_ms,
            error=record.error,
            provenance=call.provenance.value,
            on_critical_path=index in critical and graph.critical_path.timed > 0,
        )


@evaluator("latency", tier=2)
def evaluate_latency(trial: TrialInput, _: Mapping[str, Contribution]) -> Contribution:
    """Summarises the latencies of all calls to agents, the assessor's included."""
    latencies = latencies_of(trial.projection.all_links)
    return Contribution(latency=summarise(latencies, trial.roster), latencies=tuple(latencies))
