"""Chunks: reported steps, many at a time, decoded as far as columns hold them, with who attests each."""

import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import compress, groupby
from operator import attrgetter
from typing import Annotated, Final, NamedTuple

import msgspec
import numpy as np
from isal import isal_zlib
from msgspec import UNSET, Meta, Raw, UnsetType
from msgspec import field as struct_field

from concord.trace.attributes import AGENT_NAME, EDGE_KIND, EDGE_KNOWN_BY, EDGE_SUPPORT, RETRY_OF, TASK_STATE
from concord.trace.decoding import ReadBatch, StoredReports, read
from concord.trace.report import MAX_BATCH_STEPS, Channel, Report, ReportBatch
from concord.trace.step import MAX_NAME_LENGTH, MAX_VALUE_LENGTH, CallType, as_utc
from concord.trace.stored_step import Json, Step
from concord.wire.roster import MAX_ID_LENGTH, MAX_URL_LENGTH
from concord_evaluator.trace.columns import KINDS, NEVER, NONE, Amounts, Attestation, Bytes, Flags
from concord_evaluator.trace.trees import Numbers, compact

# Bodies of stored batches, decompressed by ISA-L in half of zlib's time.

_ZLIB_OR_GZIP: Final = 47
"""zlib's window bits for either header."""


def unpacked(body: bytes) -> bytes:
    """The same as `concord.trace.report.unpack`. Raises zlib.error."""
    try:
        return isal_zlib.decompress(body, wbits=_ZLIB_OR_GZIP)
    except isal_zlib.error as error:  # type: ignore[misc] # its stub says that the class is an instance
        raise zlib.error(str(error)) from error


# Lean steps: only those fields of a step that columns hold, decoded without all others.
#
# Texts of answers and tools' parameters are most of a trace, and no column holds them. The structs accept the usual
# form of a batch, as `concord.trace.report` does, and are as strict about the names of fields, so that no field
# in another form is overlooked. Anything else is read in full first. They are not strict about what they skip: the
# collector has read it.

INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
"""Attributes of a step, in which OpenTelemetry's spans tell tokens."""

_Id = Annotated[str, Meta(min_length=1, max_length=MAX_ID_LENGTH)]
_Name = Annotated[str, Meta(max_length=MAX_NAME_LENGTH)]
_Value = Annotated[str, Meta(max_length=MAX_VALUE_LENGTH)] | UnsetType
_Milliseconds = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Int64 = Annotated[int, Meta(ge=-(2**63), le=2**63 - 1)]
_SKIPPED: Final = Raw()


class LeanAttributes(msgspec.Struct, frozen=True, gc=False):
    """The attributes of a step that columns hold."""

    agent_name: _Value = struct_field(default=UNSET, name=AGENT_NAME)
    spans_agent: _Value = struct_field(default=UNSET, name="gen_ai.agent.name")
    call_type: _Value = UNSET
    error: _Value = UNSET
    task_state: _Value = struct_field(default=UNSET, name=TASK_STATE)
    retry_of: _Value = struct_field(default=UNSET, name=RETRY_OF)
    edge_kind: _Value = struct_field(default=UNSET, name=EDGE_KIND)
    known_by: _Value = struct_field(default=UNSET, name=EDGE_KNOWN_BY)
    support: _Value = struct_field(default=UNSET, name=EDGE_SUPPORT)
    operation: _Value = struct_field(default=UNSET, name="gen_ai.operation.name")
    input_tokens: _Value = struct_field(default=UNSET, name=INPUT_TOKENS)
    output_tokens: _Value = struct_field(default=UNSET, name=OUTPUT_TOKENS)

    @classmethod
    def of(cls, attributes: Mapping[str, str]) -> "LeanAttributes":
        """Those among the attributes of a step."""
        return msgspec.convert(attributes, cls) if attributes else _BARE


_BARE: Final = LeanAttributes()


class LeanUse(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The tool that a step used."""

    tool_name: _Name
    parameters: Raw = _SKIPPED


class LeanCall(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The callee of a step, and the request to it."""

    agent_url: Annotated[str, Meta(max_length=MAX_URL_LENGTH)] = ""
    agent_name: _Name = ""
    requests: dict[str, Json] | None = None


class LeanAction(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The action of a step."""

    tool_invocation: LeanUse | None = None
    agent_invocation: LeanCall | None = None


class LeanStep(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    """The fields of a step that columns hold."""

    step_id: _Id
    trace_id: _Id
    call_type: CallType
    parent_step_id: Annotated[str, Meta(max_length=MAX_ID_LENGTH)] | None = None
    step_action: LeanAction | None = None
    cost: Raw = _SKIPPED
    total_tokens: _Int64 | None = None
    additional_attributes: LeanAttributes = _BARE
    latency: _Milliseconds | None = None
    start_time: datetime | None = None
    end_time: datetime | None = None
    error: Json = None
    name: _Name | None = None
    parameters: Raw = _SKIPPED
    requests: dict[str, Json] | None = None

    @classmethod
    def of(cls, step: Step) -> "LeanStep":
        """The fields of a step that was read in full."""
        action = step.step_action
        used, call = (None, None) if action is None else (action.tool_invocation, action.agent_invocation)
        lean = (
            None
            if action is None
            else LeanAction(
                None if used is None else LeanUse(used.tool_name),
                None if call is None else LeanCall(call.agent_url, call.agent_name, call.requests),
            )
        )
        return cls(
            step.step_id,
            step.trace_id,
            step.call_type,
            step.parent_step_id,
            lean,
            total_tokens=step.total_tokens,
            additional_attributes=LeanAttributes.of(step.additional_attributes),
            latency=step.latency,
            start_time=step.start_time,
            end_time=step.end_time,
            error=step.error,
            name=step.name,
            requests=step.requests,
        )


class _LeanBatch(msgspec.Struct, forbid_unknown_fields=True, gc=False):
    batch_id: _Id
    trace_id: _Id
    reporter: _Id
    steps: Annotated[list[LeanStep], Meta(max_length=MAX_BATCH_STEPS)] = []
    dropped: Raw = _SKIPPED


class _RawBatch(msgspec.Struct, gc=False):
    steps: list[Raw] = []


class _NamedStep(msgspec.Struct, gc=False):
    step_id: str


class _NamedBatch(msgspec.Struct, gc=False):
    steps: list[_NamedStep]


_LEAN: Final = msgspec.json.Decoder(_LeanBatch)
_NAMED: Final = msgspec.json.Decoder(_NamedBatch)
_RAW: Final = msgspec.json.Decoder(_RawBatch)
_WHOLE: Final = msgspec.json.Decoder(Step)


def read_lean(body: bytes) -> Sequence[LeanStep] | None:
    """The steps of a batch in the usual form; None leaves it to `concord.trace.decoding.read`."""
    try:
        return _LEAN.decode(body).steps
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return None


def named_steps(body: bytes, step_ids: Collection[str]) -> Sequence[Step]:
    """The steps of a batch with any of these ids, in full. Raises pydantic's ValidationError if it is malformed."""
    try:
        named = [step.step_id for step in _NAMED.decode(body).steps]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return [step for step in read(body).steps if step.step_id in step_ids]
    places = [place for place, step_id in enumerate(named) if step_id in step_ids]
    return read_some(body, places) if places else ()


def read_some(body: bytes, places: Sequence[int]) -> Sequence[Step]:
    """The steps at these places of a batch, in full. Raises pydantic's ValidationError if it is malformed."""
    raw = _RAW.decode(body).steps
    try:
        return [_WHOLE.decode(raw[place]) for place in places]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        steps = read(body).steps
        return [steps[place] for place in places]


# Fields of many steps at once, as typed arrays: their kinds, latencies, starts and tokens.

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNKNOWN_MS: Final = float("nan")
EARLIEST: Final = -(2**62)
"""The bound of starts that are derived from absurd latencies (µs)."""

_EXACT_UNTIL: Final = 2**31
"""Seconds since 1970 until which a float tells every microsecond."""

_HOST: Final = KINDS.index(CallType.HOST)
_KIND_CODES: Final = {id(kind): code for code, kind in enumerate(KINDS)}
"""By identity, because enumerations hash in Python."""


def kinds_of(steps: Sequence[LeanStep]) -> Bytes:
    """Codes as in `KINDS`. A tool's attribute may tell that the step is work on the agent's own host."""
    kinds = np.fromiter([_KIND_CODES[id(step.call_type)] for step in steps], np.int8, len(steps))
    for place, step in enumerate(steps):
        if (told := step.additional_attributes.call_type) and told == CallType.HOST:
            kinds[place] = _HOST
    return kinds


def latencies_ms(steps: Sequence[LeanStep]) -> Amounts:
    """Milliseconds: as told, else the end minus the start; NaN if neither is known."""
    told: list[float | None] = [step.latency for step in steps]
    if None in told:
        told = [_latency_ms(step) if ms is None else ms for ms, step in zip(told, steps, strict=True)]
    return np.fromiter(told, np.float64, len(steps))


def _latency_ms(step: LeanStep) -> float:
    if step.start_time is None or step.end_time is None:
        return _UNKNOWN_MS
    return max(0.0, (as_utc(step.end_time) - as_utc(step.start_time)).total_seconds() * 1000)


def starts_us(steps: Sequence[LeanStep]) -> Numbers:
    """Microseconds since 1970, from the end and the latency if need be; `NEVER` if unknown."""
    moments = [step.start_time for step in steps]
    zoned = [moment.timestamp() for moment in moments if moment is not None and moment.tzinfo is not None]
    if len(zoned) == len(steps):
        seconds = np.fromiter(zoned, np.float64, len(steps))
        if ((seconds >= 0) & (seconds < _EXACT_UNTIL)).all():
            return np.rint(seconds * 1e6).astype(np.int64)
    return np.fromiter(map(_start_us, steps), np.int64, len(steps))


def _start_us(step: LeanStep) -> int:
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return NEVER
    return max((as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency, EARLIEST)


def tokens_of(steps: Sequence[LeanStep]) -> Numbers:
    """Tokens; `NONE` if unknown or absurd."""
    told = [step.total_tokens for step in steps]
    return compact(
        np.maximum(np.fromiter([NONE if each is None else each for each in told], np.int64, len(steps)), NONE)
    )


def call_in(step: LeanStep) -> LeanCall:
    """The call that a step of the kind `AGENT` is, in either form."""
    action = step.step_action
    if action is None or action.agent_invocation is None:
        return LeanCall(agent_name=step.name or "", requests=step.requests)
    return action.agent_invocation


def failure_of(step: LeanStep) -> str | None:
    """The error, in the reporter's words; None if the step succeeded."""
    if step.error is not None:
        return str(step.error)
    told = step.additional_attributes.error
    return None if told is UNSET else told


# A chunk: who attests each step, and the call whose answer carried it.

STEPS_AT_ONCE: Final = 4096
"""Steps from which on a chunk is complete: with as many, the work for a chunk hardly counts."""


@dataclass(slots=True)
class Chunk:
    """`sources`: by step, the code of its attestation. `carriers`: by place of a step that came in an answer, the place
    of the call that carried it. `sizes`: how many of the steps each batch has; negative for one that is not read lean.
    """

    steps: list[LeanStep] = field(default_factory=list)
    sources: list[int] = field(default_factory=list)
    carriers: dict[int, int] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)


class Sources:
    """Attestations as codes. `attestations`: by code."""

    def __init__(self) -> None:
        self.attestations: list[tuple[Attestation, ...]] = []
        self._codes: dict[tuple[str, bool, bool, bool], int] = {}

    def code(self, reporter: str, *, direct: bool, observed: bool, authenticated: bool) -> int:
        """The code of an attestation, a new one for a new attestation."""
        attested = reporter, direct, observed, authenticated
        known = self._codes.get(attested)
        if known is None:
            known = self._codes[attested] = len(self.attestations)
            self.attestations.append((Attestation(*attested),))
        return known


def family(step: Step) -> list[tuple[Step, int]]:
    """The step, and the steps in its answer at any depth, each with the place here of the call that carried it."""
    found = [(step, NONE)]
    for place, (outer, _) in enumerate(found):
        found += [(inner, place) for inner in outer.answer_steps]
    return found


def chunks(reports: Iterable[Report], sources: Sources) -> Iterator[Chunk]:
    """The steps of the reports in their order, each before the steps in its answer. Adds to `sources`.

    Raises zlib.error or pydantic's ValidationError for a malformed stored batch.
    """
    chunk = Chunk()
    for batch in _batches(reports):
        observed = batch.channel is Channel.OBSERVED
        code = sources.code(batch.reporter, direct=True, observed=observed, authenticated=batch.authenticated)
        if batch.lean is not None:
            chunk.steps += batch.lean
            chunk.sources += [code] * len(batch.lean)
            chunk.sizes.append(len(batch.lean))
        else:
            first = len(chunk.steps)
            relayed = sources.code(batch.reporter, direct=False, observed=False, authenticated=batch.authenticated)
            for step in batch.steps:
                _add_family(chunk, step, code, relayed)
            chunk.sizes.append(first - len(chunk.steps))
        if len(chunk.steps) >= STEPS_AT_ONCE:
            yield chunk
            chunk = Chunk()
    yield chunk


class _Batch(NamedTuple):
    """Steps that one reporter reported over one channel: `lean`, or else `steps` in full."""

    lean: Sequence[LeanStep] | None
    steps: Iterable[Step]
    reporter: str
    authenticated: bool
    channel: Channel


def _batches(reports: Iterable[Report]) -> Iterator[_Batch]:
    if isinstance(reports, StoredReports):
        for batch in reports.batches:
            lean, steps = _read(batch)
            yield _Batch(lean, steps, batch.reporter, batch.authenticated, batch.channel)
    else:
        for source, group in groupby(reports, key=attrgetter("reporter", "authenticated", "channel")):
            yield _Batch(None, (report.step for report in group), *source)


def _read(batch: ReportBatch) -> tuple[Sequence[LeanStep] | None, Iterable[Step]]:
    if isinstance(batch, ReadBatch):
        return [LeanStep.of(step) for step in batch.steps], ()
    body = unpacked(batch.body)
    lean = read_lean(body)
    return lean, read(body).steps if lean is None else ()


def _add_family(chunk: Chunk, step: Step, direct: int, relayed: int) -> None:
    first = len(chunk.steps)
    for each, carrier in family(step):
        if carrier != NONE:
            chunk.carriers[len(chunk.steps)] = first + carrier
        chunk.steps.append(LeanStep.of(each))
        chunk.sources.append(direct if carrier == NONE else relayed)


def full_steps(reports: Iterable[Report], sizes: Sequence[int], wanted: Flags) -> Iterator[Step]:
    """The wanted steps in full, in the order of `chunks`. `sizes`: of its chunks.

    Decodes only the stored batches that have any of them. Raises as `chunks` does.
    """
    if not isinstance(reports, StoredReports):
        yield from compress((step for report in reports for step, _ in family(report.step)), wanted.tolist())
        return
    first = 0
    for batch, size in zip(reports.batches, sizes, strict=True):
        places = np.flatnonzero(wanted[first : first + abs(size)]).tolist()
        first += abs(size)
        if isinstance(batch, ReadBatch):
            yield from (batch.steps[place] for place in places)
        elif places and size > 0:
            yield from read_some(unpacked(batch.body), places)
        elif places:
            steps = [step for told in read(unpacked(batch.body)).steps for step, _ in family(told)]
            yield from (steps[place] for place in places)
