"""What speaks against the agents and the edges that were read from spans, as warnings. Pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from concord.trace.attributes import KnownBy, Support
from concord.trace.otlp import Act, SpanTree, TeamReading, name_key
from concord.trace.otlp.frameworks.langgraph import metadata
from concord.trace.otlp.genai import LANGGRAPH_NODE
from concord_evaluator.formats.activations import Activations, Edge

MAX_NAMED: Final = 3
"""Limit of the agents or edges that a warning names."""

_DEFAULT_NAMES: Final = frozenset(
    {"agent", "ai_agent", "assistant", "unknown", "default", "langgraph", "agentexecutor", "strands_agents"}
    | {"codeagent", "toolcallingagent", "chatcompletionagent", "functionagent", "reactagent", "agentworkflow"}
    | {"ai_generatetext", "ai_streamtext", "my_agent", "unnamed", "crew_agent"}
)
"""The `name_key`s of agents that their libraries named."""


def doubts_of(tree: SpanTree, reading: TeamReading, activations: Activations) -> Iterator[str]:
    """The warnings about one recording: agents named by their library, and edges that are guessed or contradicted."""
    named = {each.agent for each in reading.spans.values() if each.act is Act.AGENT}
    scopes = {tree.spans[each.head.span_id].scope for each in activations.all}
    if unnamed := sorted(agent for agent in named if _is_default(agent, scopes)):
        yield f"agents with a name of their library, which may be several: {_some(unnamed)}"
    if idle := sorted(set(_failed_nodes(tree, reading))):
        yield f"nodes that called no model, counted as agents since they failed: {_some(idle)}"
    edges = list(activations.edges())
    guessed = sum(edge.known_by is KnownBy.TIME and edge.support is not Support.CONFIRMED for edge in edges)
    if 2 * guessed > len(edges):
        yield f"{guessed} of {len(edges)} calls between agents are inferred from their times alone"
    if contradicted := [edge for edge in edges if edge.support is Support.CONTRADICTED]:
        links = list(dict.fromkeys(map(_link, contradicted)))
        yield f"{len(contradicted)} calls between agents contradict another source in the trace: {_some(links)}"


def doubts_of_file(agents: Sequence[frozenset[str]]) -> Iterator[str]:
    """The warning about a file whose traces, given by their agents, have one agent each, although it has several."""
    alone = [each for each in agents if len(each) == 1]
    names = sorted(frozenset().union(*alone))
    if len(agents) > 1 and 2 * len(alone) > len(agents) and len(names) > 1:
        yield (
            f"{len(alone)} of the file's {len(agents)} traces have one agent each ({_some(names)}): "
            "if they are one team's, the spans do not tell that they belong together"
        )


def _failed_nodes(tree: SpanTree, reading: TeamReading) -> Iterator[str]:
    """The agents of LangGraph that are so only because a node failed."""
    for span_id, read in reading.spans.items():
        span = tree.spans[span_id]
        if read.act is Act.AGENT and read.failed and metadata(span, LANGGRAPH_NODE) == read.agent:
            below = (reading.spans.get(each.span_id) for each in tree.below(span))
            if not any(each is not None and each.act is Act.MODEL for each in below):
                yield read.agent


_PLAIN: Final = re.compile(r"[\w .-]+")


def _is_default(agent: str, scopes: Iterable[str]) -> bool:
    key = name_key(agent) if _PLAIN.fullmatch(agent) else ""
    parts = (scope.split(".") for scope in scopes)
    return key in _DEFAULT_NAMES or any(key in map(name_key, each) for each in parts if len(each) > 1)


def _link(edge: Edge) -> str:
    return f"{edge.caller} to {edge.callee}"


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(names[:MAX_NAMED])
    return shown if len(names) <= MAX_NAMED else f"{shown} and {len(names) - MAX_NAMED} more"
