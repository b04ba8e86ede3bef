"""Parses report batches: a fast path for batches that are valid throughout, and step by step for the others. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Annotated, Final

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord.trace.fast_steps import read_fast
from concord.trace.report import MAX_BATCH_STEPS, RejectedStep, SerialisedBatch, StepBatch
from concord.trace.step import InteractionStep
from concord.trust.redaction import redact

_REASON_LENGTH: Final = 300
_STEP: Final[TypeAdapter[InteractionStep]] = TypeAdapter(InteractionStep)
_ESCAPES: Final = (rb"\u00", rb"\/")
_ESCAPED_ASCII: Final = re.compile(rb"\\(?:u00[2-7]|/)")
"""An escape that JSON does not need. It could hide a token from redaction, so such a body is serialised anew first."""


class BadBatchError(Exception):
    """The body is not a batch; the message says why."""


class _Envelope(StepBatch):
    steps: Annotated[list[JsonValue], Field(max_length=MAX_BATCH_STEPS, default_factory=list)]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class ParsedBatch(SerialisedBatch):
    """A batch of valid steps, and the steps that were refused."""

    rejected: tuple[RejectedStep, ...] = ()
    n_foreign: int = 0
    """How many of the refused steps are of another trace."""


def parse_batch(body: bytes) -> ParsedBatch:
    """Parses a body. If every step is valid, the redacted bytes are kept as they are; else each step is checked alone.

    Raises BadBatchError if the body is not a batch.
    """
    body = redact(body)
    # Hardly any body has such an escape. A search for one byte is thirty times as fast as for two, and a substring
    # search ten times as fast as a regular expression.
    escaped = b"\\" in body and any(escape in body for escape in _ESCAPES)
    has_escapes = escaped and _ESCAPED_ASCII.search(body) is not None
    batch = None if has_escapes else read_fast(body)
    if batch is None or any(step.trace_id != batch.trace_id for step in batch.steps):
        return _step_by_step(body)
    # The fast path accepts no nested steps.
    return ParsedBatch(
        batch_id=batch.batch_id,
        trace_id=batch.trace_id,
        reporter=batch.reporter,
        n_steps=len(batch.steps),
        dropped=sum(batch.dropped.values()),
        body=body,
    )


def _step_by_step(body: bytes) -> ParsedBatch:
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError as error:
        raise BadBatchError(_reason(error)) from error
    valid: list[InteractionStep] = []
    rejected: list[RejectedStep] = []
    n_foreign = 0
    for index, raw in enumerate(envelope.steps):
        try:
            step = _STEP.validate_python(raw)
        except ValidationError as error:
            rejected.append(RejectedStep(index=index, step_id=_id_of(raw), reason=_reason(error)))
            continue
        if step.trace_id == envelope.trace_id:
            valid.append(step)
        else:
            n_foreign += 1
            reason = f"trace_id {step.trace_id!r} is not the batch's"
            rejected.append(RejectedStep(index=index, step_id=step.step_id, reason=reason))
    batch = StepBatch(
        batch_id=envelope.batch_id,
        trace_id=envelope.trace_id,
        reporter=envelope.reporter,
        steps=valid,
        dropped=envelope.dropped,
    )
    return replace(ParsedBatch.of(batch), rejected=tuple(rejected), n_foreign=n_foreign)


def _id_of(raw: JsonValue) -> str | None:
    step_id = raw.get("step_id", raw.get("stepId")) if isinstance(raw, dict) else None
    return step_id[:64] if isinstance(step_id, str) else None


def _reason(error: ValidationError) -> str:
    """The first error: location and message, without the input, which may be large or private."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return (f"{where}: {first['msg']}" if where else first["msg"])[:_REASON_LENGTH]
