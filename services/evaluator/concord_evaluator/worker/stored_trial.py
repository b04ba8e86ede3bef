"""The document of one trial, as the evaluator's jobs read it and add to it."""

from dataclasses import dataclass

from concord.assessment.jobs import TrialRequest, TrialVerdict
from concord.assessment.results import TrialOutcome
from concord.storage import AssessmentStore, TrialDocuments
from concord.storage.trial_documents import TrialPart
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import SCREENED, ScreenedEvidence


@dataclass(frozen=True, slots=True)
class StoredTrial:
    """Reads parts, and adds each once. A part that has a failure may be replaced by the retry of a dead letter, and by
    a job that runs `again`.

    Every operation raises StorageUnavailableError, and ForeignDocumentError for the document of another version.
    """

    documents: TrialDocuments
    request: TrialRequest

    @classmethod
    def of(cls, assessments: AssessmentStore, request: TrialRequest) -> "StoredTrial":
        """The document of the trial that a job is about."""
        return cls(TrialDocuments(assessments), request)

    @property
    def assessment_id(self) -> str:
        """The assessment of the trial."""
        return self.request.assessment_id

    @property
    def trial_id(self) -> str:
        """The trial."""
        return self.request.trial_id

    @property
    def owner(self) -> str:
        """On whose behalf the pool computes for the trial."""
        return f"{self.assessment_id}/{self.request.key}"

    async def outcome(self) -> TrialOutcome:
        """The outcome. Raises LookupError for a trial that was not closed."""
        found = await self._part("outcome")
        if found is None:
            raise LookupError(f"{self.trial_id} was not closed")
        return TrialOutcome.model_validate_json(found)

    async def evaluation(self) -> TrialEvaluation:
        """The evaluation. Raises LookupError for a trial that was not evaluated."""
        found = await self._part("evaluation")
        if found is None:
            raise LookupError(f"{self.trial_id} has no evaluation")
        return TrialEvaluation.model_validate_json(found)

    async def evidence(self) -> ScreenedEvidence:
        """The screened evidence. Raises LookupError for a trial without it."""
        found = await self._part("evidence")
        if found is None:
            raise LookupError(f"{self.trial_id} has no evidence")
        return SCREENED.validate_json(found)

    async def is_evaluated(self) -> bool:
        """Whether a complete evaluation is stored. One without metrics may be replaced."""
        found = await self._part("evaluation")
        return found is not None and TrialEvaluation.model_validate_json(found).failure is None

    async def has_evidence(self) -> bool:
        """Whether screened evidence is stored."""
        return await self._part("evidence") is not None

    async def is_judged(self) -> bool:
        """Whether a final verdict is stored. One with a failure may be replaced, and one that the judge lost."""
        found = await self._part("verdict")
        return found is not None and self._is_final(found)

    def _is_final(self, found: str) -> bool:
        verdict = TrialVerdict.model_validate_json(found)
        return verdict.failure is None and not (self.request.again and verdict.is_lost)

    async def add_evaluation(self, evaluation: str) -> None:
        """Adds the evaluation, as JSON."""
        earlier = await self._part("evaluation")
        failed = earlier is not None and TrialEvaluation.model_validate_json(earlier).failure is not None
        await self._add("evaluation", evaluation, instead_of=earlier if failed else None)

    async def add_evidence(self, evidence: str) -> None:
        """Adds the screened evidence, as JSON. Replaces that of an evaluation that was replaced."""
        await self._add("evidence", evidence, instead_of=await self._part("evidence"))

    async def add_verdict(self, verdict: TrialVerdict) -> None:
        """Adds the verdict."""
        earlier = await self._part("verdict")
        instead_of = None if earlier is None or self._is_final(earlier) else earlier
        made = verdict.model_copy(update={"again": self.request.again})
        await self._add("verdict", made.model_dump_json(), instead_of=instead_of)

    async def _part(self, part: TrialPart) -> str | None:
        return await self.documents.part(self.assessment_id, self.request.key, part)

    async def _add(self, part: TrialPart, content: str, *, instead_of: str | None) -> None:
        await self.documents.add(self.assessment_id, self.request.key, part, content, instead_of=instead_of)
