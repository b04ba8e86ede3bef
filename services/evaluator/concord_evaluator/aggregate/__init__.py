"""Aggregation: makes the row of an assessment from the verdicts on its trials."""

from concord_evaluator.aggregate.row import make_row

__all__ = ["make_row"]
