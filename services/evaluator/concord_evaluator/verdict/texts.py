"""The texts of a row: renderings of its verdict, and a judge's words that are attributed to it."""

from typing import Final, TypedDict

from concord.assessment.results import Judgment
from concord.assessment.verdict import UnknownKind, Verdict
from concord.assessment.verdict_text import reasoning_of, strengths_of, weaknesses_of

_LEFT_TO_RULES: Final = frozenset({UnknownKind.NOT_JUDGED, UnknownKind.MODEL_FAILED, UnknownKind.STRUCTURE_ONLY})
"""What is unknown where rules judge, because nothing else does."""


class RowTexts(TypedDict):
    """The row's texts."""

    reasoning: str
    strengths: list[str]
    weaknesses: list[str]


def texts_of(verdict: Verdict, judge: Judgment | None) -> RowTexts:
    """The verdict in words. A judge's words follow, with who says them: of a model, or of rules where nothing else
    judged."""
    texts = RowTexts(
        reasoning=reasoning_of(verdict), strengths=strengths_of(verdict), weaknesses=weaknesses_of(verdict)
    )
    open_ones = any(each.kind in _LEFT_TO_RULES for each in verdict.unknown)
    if judge is None or (judge.source == "rules" and not open_ones):
        return texts
    who = "The rules" if judge.source == "rules" else f"The model {judge.model}" if judge.model else "The model"
    return RowTexts(
        reasoning=" ".join([texts["reasoning"], *([f"{who}: {judge.reasoning}"] if judge.reasoning else [])]),
        strengths=[*texts["strengths"], *(f"{who}: {each}" for each in judge.strengths)],
        weaknesses=[*texts["weaknesses"], *(f"{who}: {each}" for each in judge.weaknesses)],
    )
