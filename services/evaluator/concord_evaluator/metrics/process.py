"""Process: how the calls went."""

from collections.abc import Iterator

from concord_evaluator.graph import AgentGraph, tally_calls
from concord_evaluator.metrics.registry import Measured, metric, undefined


@metric("error_rate", definition="failed_calls/calls", engine="python")
def error_rate(graph: AgentGraph) -> Iterator[Measured]:
    """The share of calls that failed for good, of all that agents were to answer, the assessor's included."""
    calls = tally_calls(graph)
    if not calls.calls:
        yield undefined(0, "there are no calls")
        return
    yield Measured(calls.failed_calls / calls.calls, calls.calls)


@metric("repeat_ratio", definition="repeated_requests/comparable_requests", engine="python")
def repeat_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of requests that asked the same agent the same as its caller had already asked.

    Retries are no repeats. Calls that do not say what they asked cannot be compared and do not count.
    """
    calls = tally_calls(graph)
    if not calls.comparable:
        yield undefined(0, "no call says what it asked")
        return
    yield Measured(calls.repeats / calls.comparable, calls.comparable)
