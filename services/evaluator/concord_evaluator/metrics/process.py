"""Metrics of the process: failures, chains and repetitions of calls, and how much of the work was sequential."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from concord_evaluator.metrics.metric import Measured, approximate, metric, undefined

if TYPE_CHECKING:
    from concord_evaluator.graph import AgentGraph

_NOT_COMPLETED: Final = "the task was not completed"
_UNKNOWN: Final = "nobody knows whether the task was completed"


@metric("error_rate", definition_id="failed_calls/calls")
def error_rate(graph: AgentGraph) -> Iterator[Measured]:
    """The share of calls to agents that failed for good, including the assessor's calls."""
    calls = graph.tally
    if not calls.calls:
        yield undefined(0, "there are no calls")
        return
    yield Measured(calls.failed_calls / calls.calls, calls.calls)


@metric("error_propagation", definition_id="failed_within_failed/failed_within_any")
def error_propagation(graph: AgentGraph) -> Iterator[Measured]:
    """Of the calls that failed inside another call, the share for which the outer call failed too: 0 if the agents
    handle all errors, 1 if every error reaches the original caller."""
    from concord_evaluator.trace.trees import ROOT

    calls = graph.calls
    outer = calls.parent[calls.failed & (calls.parent != ROOT)]
    if not len(outer):
        yield undefined(0, "no call failed within another")
        return
    yield Measured(int(calls.failed[outer].sum()) / len(outer), len(outer))


@metric("repeat_ratio", definition_id="repeated_requests/comparable_requests")
def repeat_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of requests in which an agent asked another agent the same question again. Retries are not repeats.
    Calls without a request text cannot be compared and do not count."""
    calls = graph.tally
    if not calls.comparable:
        yield undefined(0, "no call says what it asked")
        return
    yield Measured(calls.repeats / calls.comparable, calls.comparable)


@metric("loop_ratio", definition_id="calls_back_up_the_chain/calls_between_agents")
def loop_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """The share of calls between agents whose callee still waits for the answer to an earlier call of the same
    chain."""
    calls = int(graph.calls.between_agents.sum())
    if not calls:
        yield undefined(0, "there are no calls between agents")
        return
    yield Measured(len(graph.returns) / calls, calls)


@metric("messages_per_completed_task", definition_id="messages/completed_tasks")
def messages_per_completed_task(graph: AgentGraph) -> Iterator[Measured]:
    """The requests and replies between agents that the completed task took (coordination overhead, after Kim et al.
    2025, arXiv 2512.08296); over several trials, the mean of the completed ones."""
    yield Measured(graph.n_messages, 1) if graph.completed else undefined(0, _why_not(graph))


@metric("tokens_per_completed_task", definition_id="tokens/completed_tasks")
def tokens_per_completed_task(graph: AgentGraph) -> Iterator[Measured]:
    """The tokens that the completed task took, as far as steps report them. The tokens of a step include those of the
    steps below it."""
    if not graph.completed:
        yield undefined(0, _why_not(graph))
    elif graph.tokens is None:
        yield undefined(0, "no step tells its tokens")
    else:
        yield Measured(graph.tokens, 1)


def _why_not(graph: AgentGraph) -> str:
    return _UNKNOWN if graph.completed is None else _NOT_COMPLETED


PROCESS: Final = (
    error_rate,
    error_propagation,
    repeat_ratio,
    loop_ratio,
    messages_per_completed_task,
    tokens_per_completed_task,
)


# Time: how much of the work was sequential, and which agents took over from each other.

_NO_TIMES: Final = "no call says how long it took"
_NO_STARTS: Final = "fewer than two calls say when they began"


@metric("critical_path_ms", definition_id="span/calls/observed_order")
def critical_path_ms(graph: AgentGraph) -> Iterator[Measured]:
    """The longest chain of work (ms): the time in which agents answered calls without waiting for another agent, along
    calls that were each made in the previous call, or began after its end by the clock of the agent that made both."""
    yield _timed(graph, graph.critical_path.span_us / 1000)


@metric("critical_path_share", definition_id="span/work")
def critical_path_share(graph: AgentGraph) -> Iterator[Measured]:
    """The share of all work that lies on the critical path: 1 if no work was done in parallel."""
    path = graph.critical_path
    yield _timed(graph, path.span_us / path.work_us if path.work_us else None)


@metric("parallelism", definition_id="work/span")
def parallelism(graph: AgentGraph) -> Iterator[Measured]:
    """Work over span: the mean number of agents at work at the same time, over the critical path; 1 if no work was done
    in parallel."""
    path = graph.critical_path
    yield _timed(graph, path.work_us / path.span_us if path.span_us else None)


def _timed(graph: AgentGraph, value: float | None) -> Measured:
    timed, complete = graph.critical_path.timed, graph.critical_path.complete
    if not timed:
        return undefined(0, _NO_TIMES)
    if value is None:
        return undefined(timed, "no time passed")
    return Measured(value, timed) if complete else approximate(value, timed, "not every call says when and how long")


@metric("handover_ratio", definition_id="handovers/successions")
def handover_ratio(graph: AgentGraph) -> Iterator[Measured]:
    """How often the work changes hands: the share of direct successions of two calls, in causal order, that different
    agents answered (after van der Aalst 2005)."""
    successions = len(graph.performers) - 1
    if successions > 0:
        yield Measured(graph.handovers.total() / successions, successions)
    else:
        yield undefined(0, _NO_STARTS)


@metric("handover_of_work", definition_id="handovers_by_agent/successions")
def handover_of_work(graph: AgentGraph) -> Iterator[Measured]:
    """The share of direct successions of two calls in which this agent answered the first call and another agent the
    second (van der Aalst 2005)."""
    successions = len(graph.performers) - 1
    if successions < 1:
        yield undefined(0, _NO_STARTS)
        return
    for agent in graph.agents:
        yield Measured(graph.handovers[agent] / successions, successions, agent)


TIME: Final = (critical_path_ms, critical_path_share, parallelism, handover_ratio, handover_of_work)
