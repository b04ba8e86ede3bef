"""Latency: how long agents took to answer, relative to each other in the same run."""

from concord_evaluator.latency.summary import CalleeLatencies, latencies_of, summarise

__all__ = ["CalleeLatencies", "latencies_of", "summarise"]
