"""Process: how the calls went, what followed from what, and what a completed task cost."""

from collections.abc import Iterator
from typing import Final

from concord_evaluator.graph import AgentGraph
from concord_evaluator.graph.chains import is_between_agents
from concord_evaluator.metrics.metric import Measured, metric, undefined

_NOT_COMPLETED: Final = "the task was not completed"


@metric("error_rate", definition_id="failed_calls/calls")
def error_rate(graph: AgentGraph) -> Iterator[Measured]:
    """The share of calls that failed for good, of all that agents were to answer, the assessor's included."""
    calls = graph.tally
    if not calls.calls:
        yield undefined(0, "there are no calls")
        return
    yield Measured(calls.failed_calls / calls.calls, calls.calls)


@metric("error_propagation", definition_id="failed_within_failed/failed_within_any")
def error_propagation(graph: AgentGraph) -> Iterator[Measured]:
    """Of the calls that failed while another was being answered, the share where that other failed too: 0 where
    errors are dealt with, 1 where each runs up to whoever asked."""
    within = [call.parent for call in graph.calls if call.record.failed and call.parent is not None]
    if not within:
        yield undefined(0, "no call failed within another")
        return
    yield Measured(sum(graph.calls[parent].record.failed for parent in within) / len(within), len(within))


@metric("repeat_ratio", definition_id="repeated_requests/comparable_requests")
def repeat_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of requests that asked the same agent the same as its caller had already asked. Retries are no
    repeats; calls that do not say what they asked cannot be compared and do not count."""
    calls = graph.tally
    if not calls.comparable:
        yield undefined(0, "no call says what it asked")
        return
    yield Measured(calls.repeats / calls.comparable, calls.comparable)


@metric("loop_ratio", definition_id="calls_back_up_the_chain/calls_between_agents")
def loop_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of calls between agents that go to one that is still waiting for an answer further up the chain of
    calls."""
    calls = sum(map(is_between_agents, graph.calls))
    if not calls:
        yield undefined(0, "there are no calls between agents")
        return
    yield Measured(len(graph.returns) / calls, calls)


@metric("messages_per_completed_task", definition_id="messages/completed_tasks")
def messages_per_completed_task(graph: AgentGraph) -> Iterator[Measured]:
    """Requests and replies between agents that the completed task took (coordination overhead, after Kim et al.
    2025, arXiv 2512.08296); over several trials, those that were completed."""
    yield Measured(graph.n_messages, 1) if graph.completed else undefined(0, _NOT_COMPLETED)


@metric("tokens_per_completed_task", definition_id="tokens/completed_tasks")
def tokens_per_completed_task(graph: AgentGraph) -> Iterator[Measured]:
    """Tokens that the completed task took, as far as steps tell. What a step says it took includes what was made
    under it."""
    if not graph.completed:
        yield undefined(0, _NOT_COMPLETED)
    elif graph.tokens is None:
        yield undefined(0, "no step tells its tokens")
    else:
        yield Measured(graph.tokens, 1)


METRICS: Final = (
    error_rate,
    error_propagation,
    repeat_ratio,
    loop_ratio,
    messages_per_completed_task,
    tokens_per_completed_task,
)
