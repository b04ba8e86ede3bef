"""Evaluates the criteria of a trial's scenario, from the record that the gateway left."""

import asyncio
from collections.abc import Callable

from concord.agent.assignment import Assignment
from concord.trace.step import InteractionStep
from concord_assistant.conducted import ConductedAssessment
from concord_assistant.green_agent import Judge
from concord_assistant.results import AssessmentResults

OnStep = Callable[[InteractionStep, Assignment], None]

MakeJudge = Callable[[ConductedAssessment, Assignment, OnStep], Judge]
"""Makes the judge of one record; its calls to a language model become steps below the assignment."""


class CriteriaEvaluator:
    """Evaluates records."""

    def __init__(self, make_judge: MakeJudge) -> None:
        self._make_judge = make_judge

    async def evaluate(
        self, document: str, assignment: Assignment
    ) -> tuple[AssessmentResults, list[InteractionStep]]:
        """The results of a stored record, and the steps of the judge's calls. Raises ValueError for no record."""
        record = await asyncio.to_thread(ConductedAssessment.from_document, document)
        steps: list[InteractionStep] = []
        judge = self._make_judge(record, assignment, lambda step, _: steps.append(step))
        found = await judge.evaluate_all(record.eval_context())
        return record.results(found, judge.aggregate_scores(found), unjudged=judge.unjudged(found)), steps
