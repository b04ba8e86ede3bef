"""Workload: how the messages are spread over the agents."""

from collections.abc import Iterator

from concord.results import MetricStatus
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.registry import Measured, metric, undefined


@metric("message_share", definition="messages_of_agent/messages", engine="python")
def message_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all messages that an agent sent or received; 1 for the hub of a star.

    A message has two ends, so shares add up to 2. With two agents each has all of them, which says nothing.
    """
    agents, messages = len(graph.agents), graph.n_messages
    if agents < 3:
        reason = "fewer than three agents share every message"
        yield undefined(messages, reason, status=MetricStatus.NOT_APPLICABLE)
    elif not messages:
        yield undefined(0, "there are no messages")
    else:
        for agent in graph.agents:
            yield Measured(graph.messages_of(agent) / messages, messages, agent)


@metric("load_balance", definition="1-gini/messages_of_agent", engine="python")
def load_balance(graph: AgentGraph) -> Iterator[Measured]:
    """1 minus the Gini coefficient of messages per agent: 1 where all have the same load, towards 0 for a few."""
    loads = sorted(graph.messages_of(agent) for agent in graph.agents)
    if len(loads) < 2:
        yield undefined(len(loads), "fewer than two agents have nothing to balance")
    elif not sum(loads):
        yield undefined(len(loads), "there are no messages")
    else:
        yield Measured(1 - _gini(loads), len(loads))


def _gini(ascending: list[int]) -> float:
    """The Gini coefficient of non-negative values in ascending order: sum((2i - n - 1) x_i) / (n sum(x))."""
    n = len(ascending)
    return sum((2 * rank - n - 1) * load for rank, load in enumerate(ascending, 1)) / (n * sum(ascending))
