"""The judge: a view of a trial in words, beside the score; by a language model where one can be asked and trusted."""

from concord_evaluator.judge.evidence import Evidence, choose_calls, show, texts_of
from concord_evaluator.judge.model import NotJudgedError, judge_by_model
from concord_evaluator.judge.rules import judge_by_rules
from concord_evaluator.judge.suspicion import Suspect, suspects_in

__all__ = [
    "Evidence",
    "NotJudgedError",
    "Suspect",
    "choose_calls",
    "judge_by_model",
    "judge_by_rules",
    "show",
    "suspects_in",
    "texts_of",
]
