"""The agent graph: who exchanges messages with whom, how the calls went, and what followed from what."""

from concord_evaluator.graph.agent_graph import AgentGraph, build_graph
from concord_evaluator.graph.tally import CallTally, tally_calls

__all__ = ["AgentGraph", "CallTally", "build_graph", "tally_calls"]
