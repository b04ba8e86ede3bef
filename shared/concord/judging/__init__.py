"""Judging by a language model, for judges of teams and of assistants: asking, verified quotes, screened texts."""

from concord.judging.answer_cache import CachedAnswers
from concord.judging.asking import NO_CACHE, Ask, JudgeAddressedError, NotJudgedError, Prompt, Question, Taken, take
from concord.judging.model_answer import (
    CompromisedError,
    Decision,
    Quote,
    UnreadableAnswerError,
    answer_schema,
    closed_object,
    is_quoted_from,
    parsed_answer,
    without_fence,
)
from concord.judging.transcript import (
    MissingAnswerError,
    RecordedTranscript,
    ReplayedTranscript,
    Transcript,
    question_id,
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
    "Decision",
    "JudgeAddressedError",
    "MissingAnswerError",
    "NotJudgedError",
    "Prompt",
    "Question",
    "Quote",
    "RecordedTranscript",
    "ReplayedTranscript",
    "Taken",
    "Transcript",
    "UnreadableAnswerError",
    "Verdict",
    "answer_schema",
    "canary_question",
    "closed_object",
    "is_quoted_from",
    "parsed_answer",
    "question_id",
    "take",
    "without_fence",
]
