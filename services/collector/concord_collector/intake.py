"""From the bytes of a request to a batch worth keeping: pure, and fast where all is well."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from concord.identity import RESERVED_IDS
from concord.reports import MAX_BATCH_STEPS, RejectedStep, StepBatch
from concord.steps import InteractionStep

_REASON_LENGTH = 300
_STEP: TypeAdapter[InteractionStep] = TypeAdapter(InteractionStep)


class BadBatchError(Exception):
    """The body as a whole cannot be taken; the message says why."""


class _Envelope(StepBatch):
    steps: Annotated[list[JsonValue], Field(max_length=MAX_BATCH_STEPS, default_factory=list)]  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Intake:
    """What is kept of a request: the batch, its JSON, and the steps that were refused."""

    batch: StepBatch
    body: bytes
    rejected: tuple[RejectedStep, ...]


def take_in(body: bytes) -> Intake:
    """Parses a body. Where every step is sound, the bytes themselves are kept; else each step is judged on its own.

    Raises BadBatchError if it is not a batch at all.
    """
    try:
        batch = StepBatch.model_validate_json(body)
    except ValidationError:
        return _step_by_step(body)
    _check_reporter(batch)
    if all(step.trace_id == batch.trace_id for step in batch.steps):
        return Intake(batch, body, ())
    return _step_by_step(body)


def _step_by_step(body: bytes) -> Intake:
    try:
        envelope = _Envelope.model_validate_json(body)
    except ValidationError as error:
        raise BadBatchError(_reason(error)) from error
    _check_reporter(envelope)
    sound: list[InteractionStep] = []
    rejected: list[RejectedStep] = []
    for index, raw in enumerate(envelope.steps):
        try:
            step = _STEP.validate_python(raw)
        except ValidationError as error:
            rejected.append(RejectedStep(index=index, step_id=_id_of(raw), reason=_reason(error)))
            continue
        if step.trace_id == envelope.trace_id:
            sound.append(step)
        else:
            reason = f"trace_id {step.trace_id!r} is not the batch's"
            rejected.append(RejectedStep(index=index, step_id=step.step_id, reason=reason))
    batch = StepBatch(
        batch_id=envelope.batch_id,
        trace_id=envelope.trace_id,
        reporter=envelope.reporter,
        steps=sound,
        dropped=envelope.dropped,
    )
    return Intake(batch, batch.model_dump_json(exclude_none=True).encode(), tuple(rejected))


def _check_reporter(batch: StepBatch) -> None:
    if batch.reporter in RESERVED_IDS:
        raise BadBatchError(f"reporter: {batch.reporter!r} is reserved")


def _id_of(raw: JsonValue) -> str | None:
    step_id = raw.get("step_id", raw.get("stepId")) if isinstance(raw, dict) else None
    return step_id[:64] if isinstance(step_id, str) else None


def _reason(error: ValidationError) -> str:
    """The first complaint: where, and what. Never the input itself, which may be large or private."""
    first = error.errors(include_url=False, include_input=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return (f"{where}: {first['msg']}" if where else first["msg"])[:_REASON_LENGTH]
