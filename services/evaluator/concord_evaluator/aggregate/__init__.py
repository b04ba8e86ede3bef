"""From the verdicts on all trials of an assessment to its one row."""

from concord_evaluator.aggregate.row import make_row

__all__ = ["make_row"]
