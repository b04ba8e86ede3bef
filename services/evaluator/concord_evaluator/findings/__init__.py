"""Findings: what a team should know about its own coordination, with the figure and the steps that show it."""

from concord_evaluator.findings.flags import METRICS_NEEDED, find

__all__ = ["METRICS_NEEDED", "find"]
