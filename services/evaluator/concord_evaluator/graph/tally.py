"""How the calls went, as counts."""

from typing import TYPE_CHECKING

from concord.results import Record
from concord_evaluator.trace import by_link

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
    own_attempts = retries = comparable = repeats = 0
    for _, calls in by_link(graph.interactions):
        own_attempts += sum(map(len, calls))
        retries += sum([call.retries for call in calls])
        requests = [call.request_digest for call in calls if call.request_digest is not None]
        comparable += len(requests)
        repeats += len(requests) - len(set(requests))
    return CallTally(
        calls=len(graph.answered),
        failed_calls=sum([call.failed for call in graph.answered]),
        attempts=sum(map(len, graph.answered)),
        failed_attempts=sum([call.failed_attempts for call in graph.answered]),
        own_attempts=own_attempts,
        retries=retries,
        comparable=comparable,
        repeats=repeats,
    )
