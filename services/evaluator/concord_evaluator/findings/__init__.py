"""Findings: what a team should know about its own coordination, with the figure and the steps that show it."""

from concord_evaluator.findings.flags import MAX_STEP_IDS, METRICS_NEEDED, find

__all__ = ["MAX_STEP_IDS", "METRICS_NEEDED", "find"]
