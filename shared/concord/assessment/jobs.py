"""The evaluator's jobs: names, arguments, and the documents in which they leave their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Final

from pydantic import BaseModel, ConfigDict, JsonValue

from concord.assessment.inputs import TrialInputs
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import TrialRecord
from concord.wire.ids import Id

ROW_DOCUMENT: Final = "row"
"""The `ResultRow` of an assessment, left by `AggregateAssessment`."""

ROW_INPUTS_DOCUMENT: Final = "row-inputs"
"""The `RowInputs` of the row, stored before the row."""

ROW_FAILURE_DOCUMENT: Final = "row-failure"
"""An `InfrastructureFailure`, in place of a row that could not be made."""


def conducted_document(trial_id: str) -> str:
    """The name of the record of a trial in a scenario, left by the gateway, from which its criteria are evaluated."""
    return f"conducted:{trial_id}"


class Queue(StrEnum):
    """The job queues: short CPU-bound work, and work that waits for a language model."""

    FAST = "fast"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class Job:
    """A call of `function` with JSON arguments. While a job is pending, another with its id is not queued."""

    function: str
    job_id: str
    queue: Queue
    arguments: Mapping[str, JsonValue]


class JobRequest(BaseModel, ABC):
    """A job of the evaluator: its arguments, and how it is queued."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    function: ClassVar[str]
    queue: ClassVar[Queue]

    assessment_id: Id

    @property
    @abstractmethod
    def job_id(self) -> str:
        """Names the work: a second request for the same work is not queued while the first is pending."""

    def job(self) -> Job:
        """The job as the queue takes it."""
        return Job(self.function, self.job_id, self.queue, self.model_dump(mode="json"))


class TrialRequest(JobRequest):
    """A job on one trial. What it needs to know is in the trial's document."""

    trial_id: Id

    @property
    def job_id(self) -> str:
        return f"{self.function}:{self.assessment_id}:{self.trial_id}"


class EvaluateTrial(TrialRequest):
    """Evaluates the trace of a closed trial, and leaves its verdict unless a model is to be asked."""

    function: ClassVar[str] = "evaluate_trial"
    queue: ClassVar[Queue] = Queue.FAST


class JudgeTrial(TrialRequest):
    """Asks the language model about an evaluated trial, and leaves its verdict."""

    function: ClassVar[str] = "judge_trial"
    queue: ClassVar[Queue] = Queue.LLM


class AggregateAssessment(JobRequest):
    """Makes the row from the verdicts of all trials of the plan and the infrastructure failures met on the way."""

    function: ClassVar[str] = "aggregate_assessment"
    queue: ClassVar[Queue] = Queue.FAST

    infrastructure: list[InfrastructureFailure] = []

    @property
    def job_id(self) -> str:
        return f"aggregate:{self.assessment_id}"


JOBS: Final[tuple[type[JobRequest], ...]] = (EvaluateTrial, JudgeTrial, AggregateAssessment)
"""All jobs."""


class TrialVerdict(BaseModel):
    """The last part of a trial's document. The evaluator's `JudgedTrial` has further fields, which others ignore."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    record: TrialRecord | None = None
    """The trial as the row will show it; null if the evaluation failed."""
    failure: InfrastructureFailure | None = None
    """Why there is no record; null if there is one."""
    assessment_results: dict[str, JsonValue] | None = None
    """Of a trial in a scenario: its criteria, turns and actions."""
    inputs: TrialInputs | None = None
    """The inputs of the verdict beside the trial's plan, outcome and reports."""
