"""What people said about the causes of failed runs, in the form of Who&When. Only the protocol of diagnosis reads it.

Two sets of labels of that corpus agree on the agent in 61 % of its hand-crafted part, and on the step in 36 %: labels
are opinions.
"""

from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from concord_research.whowhen import step_id


class Label(BaseModel):
    """Who is to blame for the failure of a run, since when, and why. `step`: the index in the history, from 0."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    trace_id: str = Field(alias="question_ID")
    agent: str = Field(alias="mistake_agent")
    step: int = Field(alias="mistake_step", ge=0)
    reason: str = Field(alias="mistake_reason", default="")

    @property
    def step_id(self) -> str:
        """The id of the labelled step in the trace that the format `whowhen` reads from the same document."""
        return step_id(self.step)


def labels_in(folder: Path) -> Iterator[Label]:
    """The label of each document of a folder, by the names of the files. Raises OSError, pydantic's ValidationError."""
    for path in sorted(folder.glob("*.json")):
        yield Label.model_validate_json(path.read_bytes())
