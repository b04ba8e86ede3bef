"""Evaluates the criteria of a trial's scenario, from the record that the gateway left."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from concord.assessment.jobs import CriteriaInputs
from concord.judging.asking import CachedAnswers, RecordedTranscript, ReplayedTranscript, Transcript
from concord.llm import Completion, LLMClient, LLMSettings, LLMUnavailableError, llm_client
from concord.processes import Calls, CallsInThread
from concord.storage import AnswerCache
from concord.trace.step import InteractionStep
from concord.wire.assignment import Assignment
from concord_assistant.conducted import ConductedAssessment
from concord_assistant.evaluation.judge import evaluate_assistant
from concord_assistant.evaluation.model_criteria import Model
from concord_assistant.results import AssessmentResults


class CriteriaEvaluator:
    """Evaluates records. Without a language model, criteria that need one are null."""

    def __init__(self, settings: LLMSettings | None, *, deadline_s: float, cache: AnswerCache | None = None) -> None:
        """`deadline_s`: for all questions to the model about one record."""
        self._settings = settings
        self._deadline_s = deadline_s
        self._cache = cache

    def inputs(self, transcript: RecordedTranscript) -> CriteriaInputs:
        """The inputs of an evaluation with that transcript."""
        return CriteriaInputs(with_model=self._model_settings is not None, exchanges=transcript.exchanges)

    async def evaluate(
        self, document: str, assignment: Assignment, calls: Calls, transcript: Transcript | None = None
    ) -> tuple[AssessmentResults, list[InteractionStep]]:
        """The results of a stored record, and the steps of the calls to the model, below the assignment.

        `calls` reads the assistant's texts; `transcript`: records the model's answers. Raises ValueError for no record.
        """
        record = await asyncio.to_thread(ConductedAssessment.from_document, document)
        steps: list[InteractionStep] = []
        settings = self._model_settings
        if settings is None:
            return await _results(record, None, CachedAnswers(), calls), steps
        async with llm_client(settings, lambda step, _: steps.append(step)) as client:
            model = _TimedModel(client, assignment, time.monotonic() + self._deadline_s)
            cache = CachedAnswers(self._cache, settings.endpoint, settings.model, transcript)
            return await _results(record, model, cache, calls), steps

    @property
    def _model_settings(self) -> LLMSettings | None:
        return self._settings if self._settings is not None and self._settings.available else None


async def evaluate_by_code(document: str, calls: Calls, *, model_answers: bool) -> AssessmentResults | None:
    """The results of a stored record without a model. `calls` reads the assistant's texts.

    None if a model may be asked: for a criterion with a prompt, if one answers, or by the scenario's own evaluators,
    which may also take long. Raises ValueError for no record.
    """
    record = await asyncio.to_thread(ConductedAssessment.from_document, document)
    has_prompt = any(criterion.evaluation_prompt is not None for criterion in record.scenario.criteria)
    if record.evaluators.ids or (has_prompt and model_answers):
        return None
    return await _results(record, None, CachedAnswers(), calls)


async def evaluate_again(record: ConductedAssessment, inputs: CriteriaInputs) -> AssessmentResults:
    """The results of a record from the recorded answers of the model. Raises MissingAnswerError, in a group."""
    cache = CachedAnswers(transcript=ReplayedTranscript(inputs.exchanges))
    return await _results(record, _NoModel() if inputs.with_model else None, cache, CallsInThread())


async def _results(
    record: ConductedAssessment, model: Model | None, cache: CachedAnswers, calls: Calls
) -> AssessmentResults:
    evaluation = await evaluate_assistant(
        record.eval_context(),
        record.scenario,
        record.evaluators,
        model,
        cache=cache,
        calls=calls,
        owner=record.assessment_id,
    )
    return record.results(evaluation)


class _NoModel:
    """The replacement of a model whose answers are replayed."""

    async def complete(
        self,
        system: str,  # noqa: ARG002 - the interface's
        user: str,  # noqa: ARG002
        *,
        schema: Mapping[str, Any] | None = None,  # noqa: ARG002
        max_tokens: int = 1000,  # noqa: ARG002
    ) -> Completion:
        """Raises LLMUnavailableError."""
        raise LLMUnavailableError("a replay asks no model")


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
