"""The judge: assesses a trial in words, by a language model or, where none can be asked or trusted, by rules."""

from concord_evaluator.judge.blame import BlameOpinion, FailedRun, failed_run, failed_trial, opinion_on
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
    "BlameOpinion",
    "FailedRun",
    "ScreenedEvidence",
    "SeenAnswer",
    "TrialEvidence",
    "TrialJudge",
    "failed_run",
    "failed_trial",
    "judge_again",
    "judge_by_rules",
    "judge_without_model",
    "judged_with",
    "opinion_on",
    "screen",
    "screened_evidence",
]
