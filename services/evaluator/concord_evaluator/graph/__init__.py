"""The agent graph: the calls between agents, their outcomes and their order."""

from concord_evaluator.graph.agent_graph import AgentGraph, CallTally, build_graph

__all__ = ["AgentGraph", "CallTally", "build_graph"]
