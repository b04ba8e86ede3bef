"""Reports: claims of steps, each with its reporter and its channel, in the batches in which they are sent and stored.

Provenance is derived from reports and never stored.
"""

import zlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from concord.trace.step import AttributeName, InteractionStep
from concord.wire.roster import GREEN_AGENT, Id

if TYPE_CHECKING:  # programs that store batches and read no steps come without msgspec
    from concord.trace.stored_step import Step

MAX_BATCH_STEPS = 1000

MAX_DROP_REASONS = 16

DropCounts = Annotated[dict[AttributeName, Annotated[int, Field(ge=0)]], Field(max_length=MAX_DROP_REASONS)]
"""How many steps were dropped, by reason."""

_ZLIB_OR_GZIP: Final = 47
"""zlib's window bits for either header."""


class Channel(StrEnum):
    """How a step was received."""

    OBSERVED = "observed"
    HTTP = "http"
    OTLP = "otlp"
    IN_BAND = "in_band"


class StepBatch(BaseModel):
    """The body of `POST /traces`: steps of one trace, and the steps dropped since the last batch."""

    model_config = ConfigDict(frozen=True)

    batch_id: Id = Field(default_factory=lambda: uuid4().hex)
    trace_id: Id
    reporter: Id
    steps: Annotated[list[InteractionStep], Field(max_length=MAX_BATCH_STEPS)] = []
    dropped: DropCounts = {}


class RejectedStep(BaseModel):
    """A rejected step of a batch whose other steps were accepted."""

    index: int
    step_id: str | None
    reason: str


class BatchReceipt(BaseModel):
    """The collector's answer: the number of accepted steps, and each rejected one by its index."""

    accepted: int
    rejected: list[RejectedStep]
    late: int = 0
    """Steps that were counted but not stored, because their trial was closed."""


class Report(NamedTuple):
    """One step as one reporter described it."""

    step: "Step"
    reporter: str
    authenticated: bool
    channel: Channel
    received_at: datetime


@dataclass(frozen=True, slots=True)
class ReportBatch:
    """A stored batch: the `StepBatch` as JSON, in zlib or gzip, and the receiver's knowledge of its reporter."""

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
    """The number of steps nested in answers, which `n_steps` does not include."""

    @property
    def account(self) -> str:
        """The account for quotas: the reporter, or "" for reporters without a token, who can use any name."""
        return self.reporter if self.authenticated else ""

    @property
    def is_observed(self) -> bool:
        """Whether the gateway wrote the batch."""
        return self.channel is Channel.OBSERVED and self.reporter == GREEN_AGENT


def pack(body: bytes) -> bytes:
    """Compresses the JSON of a `StepBatch` for `ReportBatch.body` (level 1 shrinks it about elevenfold)."""
    return zlib.compress(body, level=1)


def unpack(body: bytes) -> bytes:
    """Decompresses a `ReportBatch.body`. Raises zlib.error."""
    return zlib.decompress(body, wbits=_ZLIB_OR_GZIP)
