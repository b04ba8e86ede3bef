"""What each metric means: one sentence per definition id, for people who read a report."""

from typing import Final

_TEXTS: Final = {
    "degree_centrality/messages/undirected": "The share of the other agents with whom an agent exchanged any message.",
    "betweenness_centrality/messages/normalized": (
        "The share of the shortest paths between other agents that pass through an agent (Brandes 2001)."
    ),
    "betweenness_centrality/messages/normalized/max": "The betweenness of the agent that has most of it.",
    "weakly_connected_components/messages/count": (
        "Into how many parts that never spoke to each other the team falls; 1 for a team that hangs together."
    ),
    "density/messages": (
        "How many of the possible connections there are: m / (n(n - 1)), with requests and replies as edges."
    ),
    "density/requests": ("Density of requests alone: at most a half where everyone calls and nobody is called back."),
    "failed_calls/calls": "The share of calls that failed for good, the assessor's own calls included.",
    "repeated_requests/comparable_requests": (
        "The share of requests that asked an agent what the same caller had already asked it; retries do not count."
    ),
    "messages_of_agent/messages": (
        "The share of all messages that an agent sent or received: 1 for the hub of a star; shares add up to 2."
    ),
    "1-gini/messages_of_agent": (
        "1 minus the Gini coefficient of messages per agent: 1 where all have the same load, near 0 for a few."
    ),
}


def definition_of(definition_id: str) -> str | None:
    """The sentence for a definition id; None for one that is not of Concord."""
    return _TEXTS.get(definition_id)
