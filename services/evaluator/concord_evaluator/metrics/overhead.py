"""Overhead: what a completed task cost in messages and tokens."""

from collections.abc import Iterator
from typing import Final

from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.metric import Measured, metric, undefined

_NOT_COMPLETED: Final = "the task was not completed"


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


METRICS: Final = (messages_per_completed_task, tokens_per_completed_task)
