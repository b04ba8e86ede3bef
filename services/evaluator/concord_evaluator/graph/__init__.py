"""The agent graph: who exchanges messages with whom, how the calls went, and in which order."""

from concord_evaluator.graph.agent_graph import AgentGraph, CallTally, build_graph, tally_calls

__all__ = ["AgentGraph", "CallTally", "build_graph", "tally_calls"]
