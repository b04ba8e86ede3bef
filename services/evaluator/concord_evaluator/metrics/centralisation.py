"""Centralisation: how much one agent dominates the others."""

from collections.abc import Iterable, Iterator
from math import fsum
from typing import Final

from concord.assessment.results import MetricStatus
from concord_evaluator.graph import AgentGraph
from concord_evaluator.metrics.metric import Measured, metric, of_scores, undefined

_TOO_FEW: Final = "there are fewer than three agents"


@metric("degree_centralisation", definition_id="centralisation/degree/messages/freeman")
def degree_centralisation(graph: AgentGraph) -> Iterator[Measured]:
    """The lead of the agent with most partners: the sum of its differences to the others, over the largest possible
    sum, (n-1)(n-2) (Freeman 1979). 1 for a star, 0 if all agents have equally many."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    partners = graph.contact_arcs.out_degrees.tolist()
    yield Measured(_lead(partners) / ((agents - 1) * (agents - 2)), agents)


@metric("betweenness_centralisation", definition_id="centralisation/betweenness/messages/freeman")
def betweenness_centralisation(graph: AgentGraph) -> Iterator[Measured]:
    """The lead of the agent with the highest betweenness: the sum of its differences to the normalised betweenness of
    the others, over n-1 (Freeman 1979). 1 for a star, 0 if all agents have the same."""
    agents = len(graph.agents)
    if agents < 3:
        yield undefined(agents, _TOO_FEW)
        return
    scores = graph.betweenness
    yield of_scores(scores, _lead(scores.values.values()) / (agents - 1), agents)


def _lead(values: Iterable[float]) -> float:
    """The sum of the differences to the largest value."""
    found = list(values)
    largest = max(found)
    return fsum(largest - value for value in found)


@metric("message_share", definition_id="messages_of_agent/messages")
def message_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all messages that an agent sent or received; 1 for the hub of a star. A message has two ends, so the
    shares add up to 2. Two agents each have all messages, so there is no value."""
    if (none := _no_shares(graph)) is not None:
        yield none
        return
    for agent, load in graph.loads.items():
        yield Measured(load / graph.n_messages, graph.n_messages, agent)


@metric("hub_share", definition_id="messages_of_agent/messages/max")
def hub_share(graph: AgentGraph) -> Iterator[Measured]:
    """The largest share of all messages that one agent sent or received: 1 if all messages go through a hub, 2/n if all
    agents have equally many."""
    yield _no_shares(graph) or Measured(max(graph.loads.values()) / graph.n_messages, graph.n_messages)


def _no_shares(graph: AgentGraph) -> Measured | None:
    if len(graph.agents) < 3:
        reason = "there are fewer than three agents"
        return undefined(graph.n_messages, reason, status=MetricStatus.NOT_APPLICABLE)
    return None if graph.n_messages else undefined(0, "there are no messages")


@metric("load_balance", definition_id="1-gini/messages_of_agent")
def load_balance(graph: AgentGraph) -> Iterator[Measured]:
    """1 minus the Gini coefficient of messages per agent: 1 if all agents have the same load, near 0 if a few agents
    have most of it."""
    loads = sorted(graph.loads.values())
    if len(loads) < 2:
        yield undefined(len(loads), "there are fewer than two agents")
    elif not sum(loads):
        yield undefined(len(loads), "there are no messages")
    else:
        yield Measured(1 - _gini(loads), len(loads))


def _gini(ascending: list[int]) -> float:
    """The Gini coefficient of non-negative values in ascending order: sum((2i - n - 1) x_i) / (n sum(x))."""
    n = len(ascending)
    return fsum((2 * rank - n - 1) * load for rank, load in enumerate(ascending, 1)) / (n * fsum(ascending))


METRICS: Final = (degree_centralisation, betweenness_centralisation, message_share, hub_share, load_balance)
