"""The judge: assesses a trial in words, by a language model or, where none can be asked or trusted, by rules."""

from concord_evaluator.judge.aliases import Aliases
from concord_evaluator.judge.evidence import Evidence, SeenAnswer, call_texts, choose_calls, make_evidence
from concord_evaluator.judge.model import judge_by_model
from concord_evaluator.judge.rules import judge_by_rules
from concord_evaluator.judge.screening import Suspect, screen
from concord_evaluator.judge.trial_judge import TrialJudge, evidence_of, judge_again, needs_trace

__all__ = [
    "Aliases",
    "Evidence",
    "SeenAnswer",
    "Suspect",
    "TrialJudge",
    "call_texts",
    "choose_calls",
    "evidence_of",
    "judge_again",
    "judge_by_model",
    "judge_by_rules",
    "make_evidence",
    "needs_trace",
    "screen",
]
