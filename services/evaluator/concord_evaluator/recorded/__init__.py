"""The work that traces from files tell of: texts, uses of tools and models, failures."""

from concord_evaluator.recorded.work import recorded_work

__all__ = ["recorded_work"]
