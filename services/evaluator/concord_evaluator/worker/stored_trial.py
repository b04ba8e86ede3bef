"""The document of one trial, as the evaluator's jobs read it and add to it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal

from concord.assessment.jobs import EvaluateTrial, JudgeTrial, TrialRequest, TrialVerdict
from concord.assessment.result_row import InfrastructureFailure, Loss, cause_of
from concord.assessment.results import TrialOutcome
from concord.errors import StorageUnavailableError
from concord.processes import LimitExceededError, TooSlowError
from concord.storage import AssessmentStore, RetryLater
from concord.storage.trial_documents import TrialDocument, TrialDocuments
from concord_evaluator.documents import TrialEvaluation
from concord_evaluator.judge import SCREENED, ScreenedEvidence
from concord_evaluator.pipeline import without_garbage_collection


@dataclass(slots=True)
class StoredTrial:
    """Has the parts, and adds each once. A part that has a failure may be replaced by the retry of a dead letter, and
    by a job that runs `again`.

    Every operation raises ForeignDocumentError for the document of another version, and those that add a part
    StorageUnavailableError.
    """

    document: TrialDocument
    request: TrialRequest
    _evaluation: TrialEvaluation | None = None

    @classmethod
    async def read(cls, assessments: AssessmentStore, request: TrialRequest) -> "StoredTrial":
        """The document of the trial that a job is about. Raises StorageUnavailableError."""
        return cls(await TrialDocuments(assessments).document(request.assessment_id, request.key), request)

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

    def outcome(self) -> TrialOutcome:
        """The outcome. Raises LookupError for a trial that was not closed."""
        found = self.document.part("outcome")
        if found is None:
            raise LookupError(f"{self.trial_id} was not closed")
        return TrialOutcome.model_validate_json(found)

    def evaluation(self) -> TrialEvaluation:
        """The evaluation. Raises LookupError for a trial that was not evaluated."""
        if self._evaluation is None:
            found = self.document.part("evaluation")
            if found is None:
                raise LookupError(f"{self.trial_id} has no evaluation")
            with without_garbage_collection():  # the many records of a large team take twice the time with it
                self._evaluation = TrialEvaluation.model_validate_json(found)
        return self._evaluation

    def evidence(self) -> ScreenedEvidence:
        """The screened evidence. Raises LookupError for a trial without it."""
        found = self.document.part("evidence")
        if found is None:
            raise LookupError(f"{self.trial_id} has no evidence")
        return SCREENED.validate_json(found)

    def is_evaluated(self) -> bool:
        """Whether a complete evaluation is stored. One without metrics may be replaced."""
        return self.document.part("evaluation") is not None and self.evaluation().failure is None

    def has_evidence(self) -> bool:
        """Whether screened evidence is stored."""
        return self.document.part("evidence") is not None

    def is_judged(self) -> bool:
        """Whether a final verdict is stored. One with a failure may be replaced, and one that the judge lost."""
        found = self.document.part("verdict")
        return found is not None and self._is_final(found)

    def _is_final(self, found: str) -> bool:
        verdict = TrialVerdict.model_validate_json(found)
        return verdict.failure is None and not (self.request.again and verdict.is_lost)

    async def add_evaluation(self, evaluation: str) -> None:
        """Adds the evaluation, as JSON."""
        earlier = self.document.part("evaluation")
        failed = earlier is not None and self.evaluation().failure is not None
        await self.document.add("evaluation", evaluation, instead_of=earlier if failed else None)
        self._evaluation = None

    async def add_evidence(self, evidence: str) -> None:
        """Adds the screened evidence, as JSON. Replaces that of an evaluation that was replaced."""
        await self.document.add("evidence", evidence, instead_of=self.document.part("evidence"))

    async def add_verdict(self, verdict: TrialVerdict) -> None:
        """Adds the verdict."""
        earlier = self.document.part("verdict")
        instead_of = None if earlier is None or self._is_final(earlier) else earlier
        made = verdict.model_copy(update={"again": self.request.again})
        await self.document.add("verdict", made.model_dump_json(), instead_of=instead_of)


# The failures that a row states of the evaluator's jobs: what was lost, and whose fault it was.

MAX_MESSAGE: Final = 500
"""Characters of an error message that a failure quotes."""

_STAGES: Final[Mapping[str, Literal["evaluation", "judgment"]]] = {
    EvaluateTrial.function: "evaluation",
    JudgeTrial.function: "judgment",
}


def row_failure(error: str) -> InfrastructureFailure:
    """The failure of the job that makes the row."""
    return InfrastructureFailure(trial_id=None, stage="aggregation", message=error[:MAX_MESSAGE])


def trial_failure(trial: StoredTrial, function: str, error: str, raised: Exception | None) -> InfrastructureFailure:
    """The failure of a job on a trial. `raised`: by its last attempt, None if its worker died."""
    loss = _loss_of(raised)
    return InfrastructureFailure(
        trial_id=trial.trial_id,
        stage=_STAGES[function],
        message=error[:MAX_MESSAGE],
        attempt=trial.request.attempt,
        loss=loss,
        caused_by=cause_of(loss, again=trial.request.again),
    )


def _loss_of(raised: Exception | None) -> Loss:
    if isinstance(raised, LimitExceededError) and not isinstance(raised, TooSlowError):
        return Loss.LIMIT
    passing = TooSlowError | RetryLater | StorageUnavailableError | TimeoutError
    return Loss.WORKER if raised is None or isinstance(raised, passing) else Loss.ERROR
