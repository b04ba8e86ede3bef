"""Reports: claims of steps, each with its reporter and its channel. Provenance is derived from reports and never
stored."""

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple, Self
from uuid import uuid4

from pydantic import BaseModel, ConfigDict, Field

from concord.trace.step import AttributeName, InteractionStep, StepFacts
from concord.trust.redaction import redact
from concord.wire.roster import GREEN_AGENT, Id

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


class StepDigest(NamedTuple):
    """The digests of a step: `content` of all its facts, `request` of the request to the agent (None if unknown)."""

    content: bytes
    request: str | None


class Report(NamedTuple):
    """One step as one reporter described it."""

    step: StepFacts
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


@dataclass(frozen=True, slots=True)
class SerialisedBatch:
    """A `StepBatch` as JSON, with its head and its counts. Every `ReportBatch` is made from one."""

    batch_id: str
    trace_id: str
    reporter: str
    n_steps: int
    dropped: int
    body: bytes
    n_nested: int = 0

    @classmethod
    def of(cls, batch: StepBatch) -> Self:
        """The batch, with its secrets redacted."""
        return cls(
            batch_id=batch.batch_id,
            trace_id=batch.trace_id,
            reporter=batch.reporter,
            n_steps=len(batch.steps),
            dropped=sum(batch.dropped.values()),
            body=redact(batch.model_dump_json(exclude_none=True).encode()),
            n_nested=n_nested(batch.steps),
        )

    def received(
        self,
        channel: Channel,
        *,
        authenticated: bool,
        reporter: str | None = None,
        received_at: datetime | None = None,
        compressed: bytes | None = None,
    ) -> ReportBatch:
        """The batch as it is stored, received now unless `received_at` says otherwise.

        `reporter`: the agent that its token names, in the place of the one that the batch names. `compressed`: the body
        in zlib or gzip, if its sender compressed it.
        """
        return ReportBatch(
            batch_id=self.batch_id,
            trace_id=self.trace_id,
            reporter=self.reporter if reporter is None else reporter,
            authenticated=authenticated,
            channel=channel,
            received_at=datetime.now(UTC) if received_at is None else received_at,
            n_steps=self.n_steps,
            dropped=self.dropped,
            body=pack(self.body) if compressed is None else compressed,
            n_nested=self.n_nested,
        )

    def receipt(self) -> BatchReceipt:
        """The receipt for the batch if all its steps are accepted."""
        return BatchReceipt(accepted=self.n_steps, rejected=[])


def n_nested(steps: Iterable[StepFacts]) -> int:
    """The number of steps nested in answers, at any depth."""
    pending, found = list(steps), 0
    while pending:
        inner = pending.pop().answer_steps
        found += len(inner)
        pending.extend(inner)
    return found


def pack(body: bytes) -> bytes:
    """Compresses the JSON of a `StepBatch` for `ReportBatch.body` (level 1 shrinks it about elevenfold)."""
    return zlib.compress(body, level=1)


def unpack(body: bytes) -> bytes:
    """Decompresses a `ReportBatch.body`. Raises zlib.error."""
    return zlib.decompress(body, wbits=_ZLIB_OR_GZIP)
