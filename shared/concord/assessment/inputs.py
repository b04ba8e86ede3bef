"""The inputs of a row besides the plan, the outcomes and the reports, for computing the row again."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from concord.assessment.result_row import InfrastructureFailure

Count = Annotated[int, Field(ge=0)]
Samples = Annotated[int, Field(ge=1, le=9)]
"""How many times a language model judges a trial."""


class Inputs(BaseModel):
    """A part of the inputs: frozen, no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelExchange(Inputs):
    """One question to a language model, by the SHA-256 of its texts, and its outcome.

    `text`: the answer of the model (`answered`) or of the cache (`cached`), or the reason for a missing answer
    (`empty`, `unavailable`). A `cancelled` question was abandoned before its answer arrived.
    """

    question: str
    outcome: Literal["answered", "cached", "empty", "unavailable", "cancelled"]
    text: str = ""


class EvaluationInputs(Inputs):
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


class CriteriaInputs(Inputs):
    """The inputs of the evaluation of a scenario's criteria: whether a model was configured, and its answers."""

    with_model: bool
    exchanges: list[ModelExchange] = []


class JudgeInputs(Inputs):
    """The inputs of a judgment. `model`: null if the rules judged for the `reason`. `deadline_s` is in seconds."""

    model: str | None = None
    reason: str | None = None
    samples: Samples = 1
    deadline_s: float = 0
    exchanges: list[ModelExchange] = []


class TrialInputs(Inputs):
    """The inputs of a trial's verdict. Null: that part was not made. `failure`: the reason why the trial was not
    judged."""

    evaluation: EvaluationInputs | None = None
    criteria: CriteriaInputs | None = None
    judge: JudgeInputs | None = None
    failure: InfrastructureFailure | None = None


class RowInputs(Inputs):
    """The inputs of a row. `late`: by trial with a verdict, the steps that came after it closed and are not stored.

    `infrastructure`: the failures that the gateway met. `versions`: of the software that evaluated, by name.
    """

    late: dict[str, Count]
    infrastructure: list[InfrastructureFailure]
    versions: dict[str, str]
