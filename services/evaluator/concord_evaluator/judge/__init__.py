"""The judge: a view of a trial in words, beside the score. This version judges by rules."""

from concord_evaluator.judge.rules import judge_by_rules

__all__ = ["judge_by_rules"]
