"""Reports: who claimed which step, over which channel. Provenance is derived from these, never stored."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from concord.trace.step import AttributeName, Id, InteractionStep, StepFacts

MAX_BATCH_STEPS = 1000

_ZLIB_OR_GZIP: Final = 47
"""zlib's window bits for either header."""


class Channel(StrEnum):
    """How a step reached us."""

    OBSERVED = "observed"
    HTTP = "http"
    OTLP = "otlp"
    IN_BAND = "in_band"


class StepBatch(BaseModel):
    """What a reporter sends to `POST /traces`: steps of one trace, and what it had to drop since its last batch."""

    model_config = ConfigDict(frozen=True)

    batch_id: Id = Field(default_factory=lambda: uuid4().hex)
    trace_id: Id
    reporter: Id
    steps: Annotated[list[InteractionStep], Field(max_length=MAX_BATCH_STEPS)] = []
    dropped: Annotated[dict[AttributeName, Annotated[int, Field(ge=0)]], Field(max_length=16)] = {}


class RejectedStep(BaseModel):
    """A step that was not taken, and why; the rest of its batch was."""

    index: int
    step_id: str | None
    reason: str


class BatchReceipt(BaseModel):
    """The collector's answer: how many steps it took, and each refusal by its place in the batch."""

    accepted: int
    rejected: list[RejectedStep]
    late: int = 0
    """Steps that were counted and not taken: their trial was closed before they came."""


class StepDigest(NamedTuple):
    """`content` names all facts of a step; `request` what an agent was asked, None where the step does not say."""

    content: bytes
    request: str | None


class Report(NamedTuple):
    """One step as one reporter told it."""

    step: StepFacts
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    digest: StepDigest


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """A batch at rest: the `StepBatch` as JSON, in zlib or gzip, and what the receiver knows of its reporter."""

    batch_id: str
    trace_id: str
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime
    n_steps: int
    dropped: int
    body: bytes
    n_nested: int = 0
    """The steps that came inside the answers of these, which `n_steps` does not count."""

    @property
    def account(self) -> str:
        """Under which name it counts: its reporter's, or "" for all without a token together, whose names are free."""
        return self.reporter if self.authenticated else ""


def n_nested(steps: Iterable[StepFacts]) -> int:
    """How many steps came inside the answers of these, at any depth."""
    pending, found = list(steps), 0
    while pending:
        inner = pending.pop().answer_steps
        found += len(inner)
        pending.extend(inner)
    return found


def pack(body: bytes) -> bytes:
    """Compresses the JSON of a `StepBatch` as `ReportBatch.body` holds it (level 1 shrinks it about elevenfold)."""
    return zlib.compress(body, level=1)


def unpack(body: bytes) -> bytes:
    """The JSON in a `ReportBatch.body`. Raises zlib.error for what is none."""
    return zlib.decompress(body, wbits=_ZLIB_OR_GZIP)
