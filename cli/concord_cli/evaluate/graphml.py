"""The agent graph of a row as GraphML, which Gephi, yEd, Cytoscape, igraph and NetworkX read."""

from typing import BinaryIO

import networkx as nx

from concord.assessment.results import ResultRow
from concord_cli.narrator import printable


def agent_graph(row: ResultRow) -> "nx.DiGraph[str]":
    """An edge from each caller to each agent it called, over all trials; agents with what they did and their figures.

    Figures that are undefined are left out. Ids lose control characters, which XML cannot hold.
    """
    detail = row.detail
    graph: nx.DiGraph[str] = nx.DiGraph(trace=printable(detail.assessment_id))
    for agent in detail.agents:
        graph.add_node(
            printable(agent.id),
            declared=agent.declared,
            calls_made=agent.calls_made,
            calls_received=agent.calls_received,
            errors_received=agent.errors_received,
            **({} if agent.latency_avg_ms is None else {"latency_avg_ms": agent.latency_avg_ms}),
        )
    for metric in detail.metrics:
        if metric.agent is not None and metric.value is not None:
            graph.add_node(printable(metric.agent), **{metric.id: metric.value})
    for call in (call for trial in detail.trials for call in trial.interactions):
        edge = printable(call.caller), printable(call.callee)
        known = graph.edges.get(edge, {})
        graph.add_edge(
            *edge,
            calls=known.get("calls", 0) + call.calls,
            errors=known.get("errors", 0) + call.errors,
            retries=known.get("retries", 0) + call.retries,
        )
    return graph


def write_graph(row: ResultRow, file: BinaryIO) -> None:
    """Writes the agent graph of a row."""
    nx.write_graphml(agent_graph(row), file)
