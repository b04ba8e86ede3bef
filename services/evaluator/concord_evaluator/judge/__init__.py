"""The judge: assesses a trial in words, by a language model or, where none can be asked or trusted, by rules."""

from concord_evaluator.judge.evidence import (
    Aliases,
    SeenAnswer,
    TrialEvidence,
    screen,
)
from concord_evaluator.judge.trial_judge import (
    A_GIVEN_PATTERN,
    SCREENED,
    ScreenedEvidence,
    TrialJudge,
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
    "TrialEvidence",
    "TrialJudge",
    "judge_again",
    "judge_by_rules",
    "judge_without_model",
    "judged_with",
    "screen",
    "screened_evidence",
]
