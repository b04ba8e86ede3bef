"""Judging by a language model, for judges of teams and of assistants: asking, verified quotes, screened texts."""

from concord.judging.answer_cache import CachedAnswers
from concord.judging.asking import NO_CACHE, Ask, JudgeAddressedError, NotJudgedError, Prompt, Question, Taken, take
from concord.judging.model_text import (
    CompromisedError,
    UnreadableAnswerError,
    closed_object,
    is_quoted_from,
    without_fence,
)
from concord.judging.verdicts import CANARY, FAVOURABLE, POINTS, TASK_SUCCESS, Verdict, canary_question

__all__ = [
    "CANARY",
    "FAVOURABLE",
    "NO_CACHE",
    "POINTS",
    "TASK_SUCCESS",
    "Ask",
    "CachedAnswers",
    "CompromisedError",
    "JudgeAddressedError",
    "NotJudgedError",
    "Prompt",
    "Question",
    "Taken",
    "UnreadableAnswerError",
    "Verdict",
    "canary_question",
    "closed_object",
    "is_quoted_from",
    "take",
    "without_fence",
]
