"""Evaluates the criteria of a trial's scenario, from the record that the gateway left."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from concord.agent.assignment import Assignment
from concord.judging import CachedAnswers
from concord.llm import Completion, LLMClient, LLMSettings, LLMUnavailableError, llm_client
from concord.storage import AnswerCache
from concord.trace.step import InteractionStep
from concord_assistant.conducted import ConductedAssessment
from concord_assistant.evaluation.judge import evaluate_assistant
from concord_assistant.results import AssessmentResults


class CriteriaEvaluator:
    """Evaluates records. Without a language model, criteria that need one are null."""

    def __init__(self, settings: LLMSettings | None, *, deadline_s: float, cache: AnswerCache | None = None) -> None:
        """`deadline_s`: for all questions to the model about one record."""
        self._settings = settings
        self._deadline_s = deadline_s
        self._cache = cache

    async def evaluate(self, document: str, assignment: Assignment) -> tuple[AssessmentResults, list[InteractionStep]]:
        """The results of a stored record, and the steps of the calls to the model, below the assignment.

        Raises ValueError for no record.
        """
        record = await asyncio.to_thread(ConductedAssessment.from_document, document)
        steps: list[InteractionStep] = []
        settings = self._settings
        if settings is None or not settings.available:
            return await self._results(record, None, CachedAnswers()), steps
        async with llm_client(settings, lambda step, _: steps.append(step)) as client:
            model = _TimedModel(client, assignment, time.monotonic() + self._deadline_s)
            cache = CachedAnswers(self._cache, settings.endpoint, settings.model)
            return await self._results(record, model, cache), steps

    async def _results(
        self, record: ConductedAssessment, model: "_TimedModel | None", cache: CachedAnswers
    ) -> AssessmentResults:
        evaluation = await evaluate_assistant(
            record.eval_context(), record.scenario, record.evaluators, model, cache=cache
        )
        return record.results(evaluation)


@dataclass(frozen=True, slots=True)
class _TimedModel:
    """A model whose calls become steps, and which is unavailable after the deadline, so that the job ends in time."""

    client: LLMClient
    assignment: Assignment
    ends_at: float

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError."""
        try:
            async with asyncio.timeout(max(0.0, self.ends_at - time.monotonic())):
                return await self.client.complete(
                    system, user, assignment=self.assignment, schema=schema, max_tokens=max_tokens
                )
        except TimeoutError:
            raise LLMUnavailableError("the time for the evaluation of all criteria is used up") from None
