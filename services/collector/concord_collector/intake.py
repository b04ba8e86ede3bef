"""From the bytes of a request to a batch worth keeping: pure, and fast where all is well."""

import re
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord.trace.decoding import FastBatch, read_fast
from concord.trace.report import MAX_BATCH_STEPS, RejectedStep, StepBatch, n_nested
from concord.trace.step import InteractionStep
from concord.trust.redaction import redact

_REASON_LENGTH: Final = 300
_STEP: Final[TypeAdapter[InteractionStep]] = TypeAdapter(InteractionStep)
_ESCAPES: Final = (rb"\u00", rb"\/")
_ESCAPED_ASCII: Final = re.compile(rb"\\(?:u00[2-7]|/)")
"""A character that needs no escape and has one. Redaction looks for text, so such a body is written anew before."""


class BadBatchError(Exception):
    """The body as a whole cannot be taken; the message says why."""


class _Envelope(StepBatch):
    steps: Annotated[list[JsonValue], Field(max_length=MAX_BATCH_STEPS, default_factory=list)]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Intake:
    """What is kept of a request: a batch, its JSON without any token in it, and the steps that were refused."""

    batch_id: str
    trace_id: str
    reporter: str
    n_steps: int
    dropped: int
    body: bytes
    n_nested: int = 0
    """The steps that came inside others."""
    rejected: tuple[RejectedStep, ...] = ()
    n_foreign: int = 0
    """Of the refused, those of another trace."""


def take_in(body: bytes) -> Intake:
    """Parses a body. Where every step is sound, the bytes themselves are kept; else each step is judged on its own.

    Raises BadBatchError if it is not a batch at all.
    """
    body = redact(body)
    # Nearly no body has one, and to look for a text is ten times faster than for an expression.
    hides = any(escape in body for escape in _ESCAPES) and _ESCAPED_ASCII.search(body) is not None
    batch = None if hides else read_fast(body)
    if batch is None or any(step.trace_id != batch.trace_id for step in batch.steps):
        return _step_by_step(body)
    return _intake(batch, body)


def of_batch(batch: StepBatch) -> Intake:
    """A batch that was parsed, as it is kept."""
    return _intake(batch, redact(batch.model_dump_json(exclude_none=True).encode()))


def _intake(batch: FastBatch | StepBatch, body: bytes) -> Intake:
    return Intake(
        batch_id=batch.batch_id,
        trace_id=batch.trace_id,
        reporter=batch.reporter,
        n_steps=len(batch.steps),
        dropped=sum(batch.dropped.values()),
        body=body,
        # The fast reading takes none.
        n_nested=n_nested(batch.steps) if isinstance(batch, StepBatch) else 0,
    )


def _step_by_step(body: bytes) -> Intake:
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError as error:
        raise BadBatchError(_reason(error)) from error
    sound: list[InteractionStep] = []
    rejected: list[RejectedStep] = []
    n_foreign = 0
    for index, raw in enumerate(envelope.steps):
        try:
            step = _STEP.validate_python(raw)
        except ValidationError as error:
            rejected.append(RejectedStep(index=index, step_id=_id_of(raw), reason=_reason(error)))
            continue
        if step.trace_id == envelope.trace_id:
            sound.append(step)
        else:
            n_foreign += 1
            reason = f"trace_id {step.trace_id!r} is not the batch's"
            rejected.append(RejectedStep(index=index, step_id=step.step_id, reason=reason))
    batch = StepBatch(
        batch_id=envelope.batch_id,
        trace_id=envelope.trace_id,
        reporter=envelope.reporter,
        steps=sound,
        dropped=envelope.dropped,
    )
    return replace(of_batch(batch), rejected=tuple(rejected), n_foreign=n_foreign)


def _id_of(raw: JsonValue) -> str | None:
    step_id = raw.get("step_id", raw.get("stepId")) if isinstance(raw, dict) else None
    return step_id[:64] if isinstance(step_id, str) else None


def _reason(error: ValidationError) -> str:
    """The first complaint: where, and what. Never the input itself, which may be large or private."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return (f"{where}: {first['msg']}" if where else first["msg"])[:_REASON_LENGTH]
