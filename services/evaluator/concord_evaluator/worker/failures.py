"""The failures that a row states of the evaluator's jobs: what was lost, and whose fault it was."""

from collections.abc import Mapping
from typing import Final, Literal

from concord.assessment.jobs import EvaluateTrial, JudgeTrial
from concord.assessment.losses import Loss, cause_of
from concord.assessment.result_row import InfrastructureFailure
from concord.errors import StorageUnavailableError
from concord.processes import LimitExceededError, TooSlowError
from concord.storage.ports import RetryLater
from concord_evaluator.worker.stored_trial import StoredTrial

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
