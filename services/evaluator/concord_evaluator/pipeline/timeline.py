"""The timeline of a trial: its first calls in causal order, as records."""

from collections.abc import Iterator

from concord.assessment.results import MAX_CALLS, CallRecord
from concord_evaluator.graph import AgentGraph


def call_records(graph: AgentGraph) -> Iterator[CallRecord]:
    """The first `MAX_CALLS` attempts at calls, the assessor's among them. What a call was made in comes before it."""
    starts = [call.record.started_us for call in graph.calls if call.record.started_us is not None]
    earliest, critical = min(starts, default=0), graph.critical_path.calls
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
