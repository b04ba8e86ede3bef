"""How the calls went, as counts."""

from typing import TYPE_CHECKING

from concord.assessment.results import Record

if TYPE_CHECKING:
    from concord_evaluator.graph.agent_graph import AgentGraph


class CallTally(Record):
    """Counts over one trial. A call may take several attempts, and failed if none of them succeeded.

    `calls` and `attempts` are all that agents were to answer, the assessor's included; the rest is of the agents' own
    calls. `comparable`: those that say what they asked; `repeats`: those of them whose caller had already asked that
    agent the same.
    """

    calls: int
    failed_calls: int
    attempts: int
    failed_attempts: int
    own_attempts: int
    retries: int
    comparable: int
    repeats: int


def tally_calls(graph: "AgentGraph") -> CallTally:
    """Counts the calls of a trial."""
    comparable = repeats = 0
    for link in graph.links.values():
        requests = link.requests
        comparable += len(requests)
        repeats += len(requests) - len(set(requests))
    answered = graph.answered.values()
    return CallTally(
        calls=sum(len(link.calls) for link in answered),
        failed_calls=sum(link.failed for link in answered),
        attempts=sum(link.attempts for link in answered),
        failed_attempts=sum(link.failed_attempts for link in answered),
        own_attempts=sum(link.attempts for link in graph.links.values()),
        retries=sum(link.retries for link in graph.links.values()),
        comparable=comparable,
        repeats=repeats,
    )
