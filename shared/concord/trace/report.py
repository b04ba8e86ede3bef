"""Reports: claims of steps, each with its reporter and its channel, in the batches in which they are sent and stored.

Provenance is derived from reports and never stored.
"""

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Final, NamedTuple, Self, TypeVar
from uuid import uuid4

import msgspec
from msgspec import Meta
from pydantic import BaseModel, ConfigDict, Field

from concord.trace import stored_step
from concord.trace.step import AttributeName, InteractionStep
from concord.trace.stored_step import Step, n_nested, nesting, written
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


class TraceBatch(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A `StepBatch` with an id of its own, as it is stored and read."""

    batch_id: stored_step.Id
    trace_id: stored_step.Id
    reporter: stored_step.Id
    steps: Annotated[list[Step], Meta(max_length=MAX_BATCH_STEPS)] = []
    dropped: Annotated[
        dict[stored_step.AttributeName, Annotated[int, Meta(ge=0)]], Meta(max_length=MAX_DROP_REASONS)
    ] = {}

    @classmethod
    def of(cls, model: StepBatch) -> Self:
        """The batch that a model describes."""
        return cls(model.batch_id, model.trace_id, model.reporter, list(map(Step.of, model.steps)), model.dropped)


UsualBatch = TypeVar("UsualBatch", bound=TraceBatch)
_DECODER: Final = msgspec.json.Decoder(TraceBatch)
_MAX_NESTING: Final = 16
"""Answers within answers: pydantic reads JSON of 200 levels, of which each takes five, and msgspec reads more."""


def read_usual(body: bytes) -> TraceBatch | None:
    """The batch in a body of the usual form; None leaves it to the models."""
    return decoded_usual(_DECODER, body)


def decoded_usual(decoder: msgspec.json.Decoder[UsualBatch], body: bytes) -> UsualBatch | None:
    """The same for a batch with further fields in its head."""
    try:
        batch = decoder.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None
    return batch if nesting(batch.steps) <= _MAX_NESTING else None


def read_steps(body: bytes) -> TraceBatch:
    """The batch in a body of any accepted form. Raises pydantic's ValidationError."""
    return read_usual(body) or TraceBatch.of(StepBatch.model_validate_json(body))


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

    step: Step
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
    """A batch as JSON, with its head, its counts and the steps that were refused. Every `ReportBatch` is made from one.

    `n_foreign`: how many of the refused steps are of another trace.
    """

    batch_id: str
    trace_id: str
    reporter: str
    n_steps: int
    dropped: int
    body: bytes
    n_nested: int = 0

    rejected: tuple[RejectedStep, ...] = ()
    n_foreign: int = 0

    @classmethod
    def of(
        cls,
        batch: TraceBatch,
        body: bytes | None = None,
        rejected: Sequence[RejectedStep] = (),
        n_foreign: int = 0,
    ) -> Self:
        """The batch, with its secrets redacted. `body`: its JSON, already redacted, if its sender wrote it."""
        return cls(
            batch_id=batch.batch_id,
            trace_id=batch.trace_id,
            reporter=batch.reporter,
            n_steps=len(batch.steps),
            dropped=sum(batch.dropped.values()),
            body=redact(written(batch)) if body is None else body,
            n_nested=n_nested(batch.steps),
            rejected=tuple(rejected),
            n_foreign=n_foreign,
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
        """The receipt for the batch once its accepted steps are stored."""
        return BatchReceipt(accepted=self.n_steps, rejected=list(self.rejected))


def pack(body: bytes) -> bytes:
    """Compresses the JSON of a `StepBatch` for `ReportBatch.body` (level 1 shrinks it about elevenfold)."""
    return zlib.compress(body, level=1)


def unpack(body: bytes) -> bytes:
    """Decompresses a `ReportBatch.body`. Raises zlib.error."""
    return zlib.decompress(body, wbits=_ZLIB_OR_GZIP)
