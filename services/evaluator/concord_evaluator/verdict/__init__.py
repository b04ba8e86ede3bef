"""The verdict on an assessment, computed from the facts of its row. Pure."""

from concord_evaluator.verdict.trial_causes import lost_parts_of
from concord_evaluator.verdict.verdict import texts_of, verdict_of

__all__ = ["lost_parts_of", "texts_of", "verdict_of"]
