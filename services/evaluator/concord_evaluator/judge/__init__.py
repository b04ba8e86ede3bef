"""The judge: assesses a trial in words, by a language model or, where none can be asked or trusted, by rules."""

from concord_evaluator.judge.evidence import (
    Aliases,
    SeenAnswer,
    Suspect,
    TrialEvidence,
    call_texts,
    choose_calls,
    make_evidence,
    screen,
)
from concord_evaluator.judge.model import judge_by_model
from concord_evaluator.judge.trial_judge import (
    A_GIVEN_PATTERN,
    SCREENED,
    ScreenedEvidence,
    TrialJudge,
    evidence_of,
    judge_again,
    judge_by_rules,
    judge_without_model,
    judged_with,
    screened_evidence,
)

__all__ = [
    "A_GIVEN_PATTERN",
    "SCREENED",
    "Aliases",
    "ScreenedEvidence",
    "SeenAnswer",
    "Suspect",
    "TrialEvidence",
    "TrialJudge",
    "call_texts",
    "choose_calls",
    "evidence_of",
    "judge_again",
    "judge_by_model",
    "judge_by_rules",
    "judge_without_model",
    "judged_with",
    "make_evidence",
    "screen",
    "screened_evidence",
]
