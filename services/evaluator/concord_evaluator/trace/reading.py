"""Reading reports into columns, batch by batch, so that memory never holds the whole trace in parsed form."""

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime, timedelta
from functools import partial
from itertools import compress, groupby
from operator import attrgetter
from typing import Any, Final, NamedTuple

import numpy as np

from concord.trace.attributes import (
    AGENT_NAME,
    EDGE_KIND,
    EDGE_KNOWN_BY,
    EDGE_SUPPORT,
    RETRY_OF,
    TASK_STATE,
    EdgeKind,
)
from concord.trace.decoding import StoredReports, steps_of_batch
from concord.trace.otlp import genai
from concord.trace.report import Channel, Report
from concord.trace.step import CallType, as_utc
from concord.trace.stored_step import Step, json_digest
from concord_evaluator.trace.columns import (
    EDGE_KINDS,
    KINDS,
    NEVER,
    NO_MODEL_CALL,
    NONE,
    SOURCES,
    SUPPORTS,
    Attestation,
    Flags,
    Names,
    StepColumns,
    Steps,
)
from concord_evaluator.trace.trees import Numbers

# The steps of reports, in the groups in which they are decoded.


def with_nested(step: Step) -> Iterator[tuple[Step, bool]]:
    """The step (True: reported directly), and the steps in its answer (False: relayed), at any depth."""
    return ((each, carrier == NONE) for each, carrier in _family(step))


def _family(step: Step) -> list[tuple[Step, int]]:
    """The step, and the steps in its answer at any depth, each with the place here of the call that carried it."""
    found = list[tuple[Step, int]]()
    pending = [(step, NONE)]
    while pending:
        each, carrier = pending.pop()
        pending += [(inner, len(found)) for inner in each.answer_steps]
        found.append((each, carrier))
    return found


class _Group(NamedTuple):
    """Steps that one reporter reported over one channel, which are decoded when they are asked for."""

    reporter: str
    authenticated: bool
    channel: Channel
    steps: Callable[[], Sequence[Step]]


def _groups(reports: Iterable[Report]) -> Iterator[_Group]:
    if isinstance(reports, StoredReports):
        for batch in reports.batches:
            yield _Group(batch.reporter, batch.authenticated, batch.channel, partial(steps_of_batch, batch))
    else:
        for source, told in groupby(reports, key=attrgetter("reporter", "authenticated", "channel")):
            steps = [report.step for report in told]
            yield _Group(*source, steps.copy)


def wanted_steps(reports: Iterable[Report], sizes: Sequence[int], wanted: Flags) -> Iterator[Step]:
    """The steps in the wanted rows, read a second time. `sizes`: as in `ReadTrace`.

    Decodes only the stored batches that have any of them. Raises zlib.error or pydantic's ValidationError.
    """
    first = 0
    for group, size in zip(_groups(reports), sizes, strict=True):
        if (chosen := wanted[first : first + size]).any():
            yield from compress((step for told in group.steps() for step, _ in _family(told)), chosen.tolist())
        first += size


# Request texts: a bounded sample of the requests between agents, independent of the order of reports.

MAX_TEXTS: Final = 2000
"""Requests whose texts are kept. A trace may have any number of requests."""

MAX_TEXT: Final = 2000
"""Characters that are kept of each text."""


class RequestTexts:
    """Keeps the texts of the requests with the smallest digests: a random sample, independent of their order."""

    def __init__(self, limit: int = MAX_TEXTS) -> None:
        self._limit = limit
        self._texts: dict[bytes, str] = {}
        self._largest: bytes | None = None
        """Requests with larger digests are not in the sample."""

    def add(self, requests: Iterable[tuple[bytes, Mapping[str, object]]]) -> None:
        """Adds the texts of requests, each with its digest. Requests with smaller digests may displace them later."""
        known, largest = self._texts, self._largest
        for digest, request in requests:
            if (largest is None or digest <= largest) and digest not in known:
                known[digest] = text_of(request)
        if len(known) > 2 * self._limit:
            self._texts = self.sample()
            self._largest = max(self._texts)

    def sample(self) -> dict[bytes, str]:
        """The texts by request digest, sorted."""
        return dict(sorted(self._texts.items())[: self._limit])


def text_of(request: Mapping[str, object]) -> str:
    """All strings in a request, one a line, in the order of their keys; at most `MAX_TEXT` characters."""
    found: list[str] = []
    room = MAX_TEXT
    pending: list[object] = [request]
    while pending and room > 0:
        value = pending.pop()
        if isinstance(value, str):
            found.append(value[:room])
            room -= len(value) + 1
        elif isinstance(value, Mapping):
            pending.extend(value[key] for key in sorted(value, reverse=True))
        elif isinstance(value, list):
            pending.extend(reversed(value))
    return "\n".join(found)


# The model that a step says that it called, and the tokens of this call.

CLIENT_PREFIX: Final = "llm:"
"""What Concord's own client puts before a model's name in a step."""

INPUT_TOKENS: Final = "gen_ai.usage.input_tokens"
OUTPUT_TOKENS: Final = "gen_ai.usage.output_tokens"
"""Attributes of a step, in which OpenTelemetry's spans tell tokens."""

_NO_MODEL: Final = frozenset({"retrieval", "retriever", "reranker"})
"""Operations on an index, which genai counts among those on models."""

_MODELS: Final = genai.MODEL_OPERATIONS - _NO_MODEL


def calls_model(step: Step, attributes: Mapping[str, str]) -> bool:
    """Whether a step of the kind `TOOL` is the call of a model, and not the use of another tool.

    The call of a model has an operation on one, or tokens.
    """
    operation = attributes.get("gen_ai.operation.name")
    return step.total_tokens is not None if operation is None else operation in _MODELS


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else NONE


# Moments and amounts of steps.

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
EARLIEST: Final = -(2**62)
"""The bound of starts that are derived from absurd latencies (µs)."""


def _start_us(step: Step) -> int:
    """Microseconds since 1970, from the end and the latency if need be; `NEVER` if unknown."""
    if step.start_time is not None:
        return (as_utc(step.start_time) - _EPOCH) // _MICROSECOND
    if step.end_time is None or step.latency is None:
        return NEVER
    return max((as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency, EARLIEST)


def _tokens(step: Step) -> int:
    """`NONE` if unknown or absurd."""
    return NONE if step.total_tokens is None else max(step.total_tokens, NONE)


# The reading of reports into columns.

MAX_ERROR: Final = 200
"""Characters of an error that are kept."""

_AGENT, _TOOL = CallType.AGENT, CallType.TOOL
_NO_USE: Final = (NO_MODEL_CALL, NONE, NONE, NONE)
_DELEGATION: Final = EDGE_KINDS.index(EdgeKind.DELEGATION)
_EDGE_KINDS, _SOURCES, _SUPPORTS = (
    dict[str | None, int](zip(members, range(len(members)), strict=True)) for members in (EDGE_KINDS, SOURCES, SUPPORTS)
)

_ASKED: Final = 0
"""Stands for a request whose rank is not known before all are."""


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What reports tell, a row for each report of a step. `carriers`: by row of a step that came in an answer, the row
    of the call that carried it. `sizes`: how many rows each group of reports has that is decoded at once. `texts`: a
    sample of the texts of requests, by request digest.
    """

    steps: Steps
    carriers: Mapping[int, int]
    sizes: Sequence[int]
    texts: Mapping[str, str]


def read_trace(reports: Iterable[Report]) -> ReadTrace:
    """Reads all reports, in their order. Raises zlib.error or pydantic's ValidationError for a malformed batch."""
    reading = _Reading()
    sizes = [reading.add(group) for group in _groups(reports)]
    texts = {digest.hex(): text for digest, text in reading.texts.sample().items()}
    return ReadTrace(reading.steps(), reading.carriers, sizes, texts)


class _Numbers(dict[str, "_OfTrace"]):
    """Numbers steps by trace and id: those that were reported, and those that others only name.

    `step_ids`, `traces`: by number, the id of the step and the code of its trace. `trace_ids`: by code.
    """

    def __init__(self) -> None:
        super().__init__()
        self.step_ids, self.traces, self.trace_ids = list[str](), array("q"), list[str]()

    def __missing__(self, trace_id: str) -> "_OfTrace":
        of_trace = self[trace_id] = _OfTrace(self, len(self.trace_ids))
        self.trace_ids.append(trace_id)
        return of_trace


class _OfTrace(dict[str, int]):
    """The numbers of the steps of one trace, by id; `NONE` for an empty id."""

    def __init__(self, numbers: _Numbers, trace: int) -> None:
        super().__init__({"": NONE})
        self._step_ids, self._traces, self._trace = numbers.step_ids, numbers.traces, trace

    def __missing__(self, step_id: str) -> int:
        number = self[step_id] = len(self._step_ids)
        self._step_ids.append(step_id)
        self._traces.append(self._trace)
        return number


class _Reading:
    """The columns of the reports read so far."""

    def __init__(self) -> None:
        self.carriers: dict[int, int] = {}
        self.texts = RequestTexts()
        self._rows = 0
        self._numbers, self._names = _Numbers(), Names()
        self._sources: dict[Attestation, int] = {}
        self._digests = bytearray()
        self._columns = {each.name: array("d" if each.name == "latency_ms" else "q") for each in fields(StepColumns)}

    def add(self, group: _Group) -> int:
        """Adds the steps of a group, and returns how many these are."""
        direct, relayed = self._attested(group)
        rows, asked = list[Sequence[float]](), list[Mapping[str, object]]()
        for told in group.steps():
            first = self._rows + len(rows)
            rows.append(self._row(told, direct, asked))
            for step, carrier in _family(told)[1:] if told.answer_steps else ():
                self.carriers[self._rows + len(rows)] = first + carrier
                rows.append(self._row(step, relayed, asked))
        if rows:
            for column, values in zip(self._columns.values(), zip(*rows, strict=True), strict=True):
                column.fromlist(list(values))  # a quarter of the time of extend
        digests = list(map(json_digest, asked))
        self.texts.add(zip(digests, asked, strict=True))
        self._digests += b"".join(digests)
        self._rows += len(rows)
        return len(rows)

    def _attested(self, group: _Group) -> tuple[int, int]:
        """The codes of those who attest a reported step, and the steps in its answer."""
        reporter, authenticated, observed = group.reporter, group.authenticated, group.channel is Channel.OBSERVED
        direct = Attestation(reporter, direct=True, observed=observed, authenticated=authenticated)
        relayed = Attestation(reporter, direct=False, observed=False, authenticated=authenticated)
        first, second = (self._sources.setdefault(each, len(self._sources)) for each in (direct, relayed))
        return first, second

    def _row(self, step: Step, source: int, asked: list[Mapping[str, object]]) -> Sequence[float]:
        """The facts of a step, in the order of `StepColumns`. Adds its request to those asked."""
        names, numbers, attributes = self._names, self._numbers[step.trace_id], step.additional_attributes
        told, kind, failure, latency = attributes.get, step.kind, step.failure, step.latency_ms
        call = step.agent_call if kind is _AGENT else None
        requests = None if call is None else call.requests
        if requests:
            asked.append(requests)
        return (
            numbers[step.step_id],
            numbers[step.parent_step_id or ""],
            numbers[told(RETRY_OF) or ""],
            KINDS.index(kind),
            names[told(AGENT_NAME) or told("gen_ai.agent.name") or ""],
            names["" if call is None else call.agent_url],
            names["" if call is None else call.agent_name],
            _ASKED if requests else NONE,
            _EDGE_KINDS.get(told(EDGE_KIND), _DELEGATION),
            _SOURCES.get(told(EDGE_KNOWN_BY), NONE),
            _SUPPORTS.get(told(EDGE_SUPPORT), NONE),
            NONE if failure is None else names[failure[:MAX_ERROR]],
            failure is None or TASK_STATE in attributes,
            np.nan if latency is None else latency,
            _start_us(step),
            _tokens(step),
            *(self._model(step) if kind is _TOOL else _NO_USE),
            source,
        )

    def _model(self, step: Step) -> tuple[int, int, int, int]:
        """The model that the use of a tool called, and the tokens of the call: all, read and written."""
        attributes = step.additional_attributes
        if not calls_model(step, attributes):
            return _NO_USE
        used = None if step.step_action is None else step.step_action.tool_invocation
        name = "" if used is None else used.tool_name.removeprefix(CLIENT_PREFIX)
        read, written = _count(attributes.get(INPUT_TOKENS, "")), _count(attributes.get(OUTPUT_TOKENS, ""))
        tokens = _tokens(step) if NONE in {read, written} else read + written
        return self._names[name] if name else NONE, tokens, read, written

    def steps(self) -> Steps:
        """The steps read, a row for each report."""
        columns: dict[str, Any] = {
            name: np.frombuffer(column, np.float64 if column.typecode == "d" else np.int64)
            for name, column in self._columns.items()
        }
        columns["request"][columns["request"] == _ASKED], digests = _ranked(self._digests)
        columns["answered"] = columns["answered"].astype(np.bool_)
        numbers = self._numbers
        return Steps(
            StepColumns(**columns),
            self._names,
            numbers.step_ids,
            np.frombuffer(numbers.traces, np.int64),
            numbers.trace_ids,
            [(each,) for each in self._sources],
            digests,
        )


def _ranked(digests: bytearray) -> tuple[Numbers, bytes]:
    """The rank of each digest of 16 bytes among the distinct ones, and all of these by rank."""
    distinct, ranks = np.unique(np.frombuffer(digests, "S16"), return_inverse=True)
    return ranks, distinct.tobytes()
