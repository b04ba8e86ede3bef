"""The evaluator's jobs: names, arguments, and the documents in which they leave their results."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, ClassVar, Final, Generic, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.assessment.plan import attempt_key
from concord.assessment.result_row import InfrastructureFailure
from concord.assessment.results import Grading, Judgment, TrialRecord
from concord.wire.roster import Id

# The inputs of a row besides the plan, the outcomes and the reports, for computing the row again.

Count = Annotated[int, Field(ge=0)]
Samples = Annotated[int, Field(ge=1, le=9)]
"""How many times a language model judges a trial."""


class RecordedInputs(BaseModel):
    """A part of the inputs: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelExchange(RecordedInputs):
    """One question to a language model, by the SHA-256 of its texts, and its outcome.

    `text`: the answer of the model (`answered`) or of the cache (`cached`), or the reason for a missing answer
    (`empty`, `unavailable`). A `cancelled` question was abandoned before its answer arrived.
    """

    question: str
    outcome: Literal["answered", "cached", "empty", "unavailable", "cancelled"]
    text: str = ""


class EvaluationInputs(RecordedInputs):
    """The inputs of a trial's evaluation that its trace does not have.

    `batches`: how many of the trace were read. `late`: the reporters of steps that came after the trial closed.
    `refused`: by account, the steps beyond the quota. `steps`: the limit on the steps that are read. `checks_in_time`:
    how often the evaluator found that it still had time before it had none; null: always. `failure`: the reason why the
    trial was evaluated from the gateway's reports alone, without metrics.
    """

    batches: Count
    late: list[str] = []
    refused: dict[str, Count] = {}
    steps: Count | None = None
    checks_in_time: Count | None = None
    failure: str | None = None


class CriteriaInputs(RecordedInputs):
    """The inputs of the evaluation of a scenario's criteria: whether a model was configured, and its answers."""

    with_model: bool
    exchanges: list[ModelExchange] = []


class JudgeInputs(RecordedInputs):
    """The inputs of a judgment. `model`: null if the rules judged for the `reason`. `deadline_s` is in seconds."""

    model: str | None = None
    reason: str | None = None
    samples: Samples = 1
    deadline_s: float = 0
    exchanges: list[ModelExchange] = []


class TrialInputs(RecordedInputs):
    """The inputs of a trial's verdict. Null: that part was not made. `failure`: the reason why the trial was not
    judged."""

    evaluation: EvaluationInputs | None = None
    criteria: CriteriaInputs | None = None
    judge: JudgeInputs | None = None
    failure: InfrastructureFailure | None = None


class RowInputs(RecordedInputs):
    """The inputs of a row. `late`: by trial with a verdict, the steps that came after it closed and are not stored.

    `infrastructure`: the failures that the gateway met. `versions`: of the software that evaluated, by name.
    """

    late: dict[str, Count]
    infrastructure: list[InfrastructureFailure]
    versions: dict[str, str]


# The jobs.

ROW_DOCUMENT: Final = "row"
"""The `ResultRow` of an assessment, left by `AggregateAssessment`."""

ROW_INPUTS_DOCUMENT: Final = "row-inputs"
"""The `RowInputs` of the row, stored before the row."""

ROW_FAILURE_DOCUMENT: Final = "row-failure"
"""An `InfrastructureFailure`, in place of a row that could not be made."""


def conducted_document(key: str) -> str:
    """The name of the record of a trial in a scenario, left by the gateway, from which its criteria are evaluated.

    `key`: of the attempt at the trial.
    """
    return f"conducted:{key}"


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
    """A job on one attempt at a trial. What it needs to know is in the trial's document.

    `again`: whether an earlier job on it was lost.
    """

    trial_id: Id
    attempt: int = 1
    again: bool = False

    @property
    def key(self) -> str:
        """Under which storage keeps what belongs to the attempt."""
        return attempt_key(self.trial_id, self.attempt)

    @property
    def job_id(self) -> str:
        return f"{self.function}:{self.assessment_id}:{self.key}"


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


def assessment_of(job_id: str) -> str:
    """The assessment that a job works on, by the job's id."""
    return job_id.split(":")[1] if ":" in job_id else job_id


def work_of(job_id: str) -> str:
    """The trial or the row that a job works on, by the job's id: a trial is evaluated and judged by two jobs."""
    return job_id.partition(":")[2]


JOBS: Final[tuple[type[JobRequest], ...]] = (EvaluateTrial, JudgeTrial, AggregateAssessment)
"""All jobs."""


class RecordHead(BaseModel):
    """Of a trial's record, what the gateway reads."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    overall_score: float | None
    grading: Grading | None = None
    judge: Judgment | None


R = TypeVar("R", TrialRecord, RecordHead)


class _StoredVerdict(BaseModel, Generic[R]):
    """The last part of a trial's document. The evaluator's `JudgedTrial` has further fields, which others ignore."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    record: R | None = None
    """The trial as the row will show it; null if the evaluation failed."""
    failure: InfrastructureFailure | None = None
    """Why there is no record; null if there is one."""
    assessment_results: dict[str, JsonValue] | None = None
    """Of a trial in a scenario: its criteria, turns and actions."""
    inputs: TrialInputs | None = None
    """The inputs of the verdict beside the trial's plan, outcome and reports."""
    again: bool = False
    """Whether it was made again, after worker or judge had been lost."""

    @property
    def is_lost(self) -> bool:
        """Whether the trial is to be evaluated again: worker or judge were lost, and only once."""
        by_worker = self.failure is not None and self.failure.caused_by == "concord"
        return not self.again and (by_worker or self.lost_by_judge)

    @property
    def lost_by_judge(self) -> bool:
        """Whether a model was asked about the trial and gave no judgment, so that nobody judged the outcome."""
        asked = self.inputs is not None and self.inputs.judge is not None and self.inputs.judge.model is not None
        record = self.record
        if not asked or record is None or record.judge is None or record.judge.source != "rules":
            return False
        return record.grading is not None and record.grading.value is None


class TrialVerdict(_StoredVerdict[TrialRecord]):
    """The verdict with the whole record."""


class VerdictHead(_StoredVerdict[RecordHead]):
    """The verdict without most of its record, for the gateway, which reads one for each trial."""
