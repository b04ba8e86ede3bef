"""The columns of a trace: the facts of its steps as typed arrays, and the distinct cases in them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeAlias, TypeVar

import msgspec
import numpy as np

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.step import CallType
from concord_evaluator.trace.texts import Texts
from concord_evaluator.trace.trees import Numbers

# Cases: the distinct combinations in several columns, so that what depends on them alone is found once for each.

Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"

_Codes: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"


def cases(first: _Codes, *others: _Codes) -> tuple[Numbers, Numbers]:
    """The first row of each distinct combination, and by row the number of its combination, in order of the columns."""
    order = np.lexsort((*reversed(others), first))
    new = changes(*(column[order] for column in (first, *others)))
    case = np.empty(len(order), np.int64)
    case[order] = np.cumsum(new) - 1
    return order[new], case


def are(codes: _Codes, few: Iterable[int]) -> Flags:
    """By row, whether its code is one of these. For two codes, in a tenth of the time of `np.isin`."""
    found = np.zeros(len(codes), np.bool_)
    for code in few:
        found |= codes == code
    return found


def changes(*columns: _Codes) -> Flags:
    """By row, whether any of the columns differs from the row before. True for the first row."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def pairs(first: _Codes, second: _Codes) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.int64]]", Numbers]:
    """The distinct pairs of both columns, sorted, a row for each; and how often each occurs. The columns hold no
    negative numbers."""
    size = int(second.max(initial=0)) + 1
    distinct, times = np.unique(first.astype(np.int64) * size + second, return_counts=True)
    return np.column_stack([distinct // size, distinct % size]), times


# Records: who attests a step, and the facts of one step, which the columns of a trace yield one by one.


@dataclass(frozen=True, slots=True)
class Attestation:
    """That one reporter reported one content of a step, over all channels together.

    `direct`: as a step of its own, rather than inside the answer to one of its calls. Nearly all steps of a reporter
    share one attestation.
    """

    reporter: str
    direct: bool
    observed: bool
    authenticated: bool

    def joined(self, other: "Attestation") -> "Attestation":
        """This attestation and another one of the same content by the same reporter. The order does not matter."""
        if self == other:
            return self
        return Attestation(
            reporter=self.reporter,
            direct=self.direct or other.direct,
            observed=self.observed or other.observed,
            authenticated=self.authenticated or other.authenticated,
        )


class StepRecord(msgspec.Struct, frozen=True, gc=False):
    """The facts of a step, and its attestations. Two different contents under one step id are two records.

    `latency_ms` in milliseconds; `started_us` in microseconds since 1970, by the clock of the agent that made the
    step. `attestations` are sorted by reporter.
    """

    trace_id: str
    step_id: str
    parent_id: str | None
    kind: CallType
    agent_name: str
    callee_url: str
    callee_name: str
    request_digest: str | None
    """Identifies the request. None where the step does not contain it: two unknown requests are never a repetition."""
    retry_of: str | None
    edge_kind: EdgeKind
    known_by: KnownBy | None
    support: Support | None
    error: str | None
    answered: bool
    """Of a call: whether the callee answered. A step without an error counts as answered."""
    latency_ms: float | None
    started_us: int | None
    tokens: int | None
    attestations: tuple[Attestation, ...]

    @property
    def failed(self) -> bool:
        """Whether the step has an error."""
        return self.error is not None


# The columns. Every array has a row for each content of a step.

Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int8]]"
Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"
Codes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]]"

Fact = TypeVar("Fact")

KINDS: Final = tuple(CallType)
EDGE_KINDS: Final = tuple(EdgeKind)
SOURCES: Final = tuple(KnownBy)
SUPPORTS: Final = tuple(Support)
"""The members by their codes in the columns."""

NONE: Final = -1
"""The code, number or amount of what a step does not tell."""

UNREPORTED: Final = -2
"""The number of a parent that nobody reported."""

NEVER: Final = -(2**63)
"""The start of a step that does not tell it."""

NO_MODEL_CALL: Final = -2
"""The model of a step that called none."""


class _CodeOf(dict[str, int]):
    """By text, its code: the next one for a text that is not known yet. `texts`: by code."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self.texts)
        self.texts.append(text)
        return code


class Names:
    """Names of agents, addresses, models and reporters as codes: each text is held once."""

    def __init__(self) -> None:
        self._codes = _CodeOf()
        self.texts = self._codes.texts

    def code(self, text: str) -> int:
        """The code of a name, a new one for a new name."""
        return self._codes[text]

    def codes(self, texts: Sequence[str]) -> Codes:
        """The codes of many names."""
        return np.fromiter(map(self._codes.__getitem__, texts), np.int32, len(texts))

    def ranks(self, codes: Codes) -> Numbers:
        """The place of each of these names among all names as they sort."""
        place = np.empty(len(self.texts), np.int64)
        place[sorted(range(len(self.texts)), key=self.texts.__getitem__)] = np.arange(len(self.texts))
        ranks: Numbers = place[codes]
        return ranks


@dataclass(frozen=True, slots=True)
class StepColumns:
    """The facts of steps. `NONE` stands for what a step does not tell, in all columns but those that say otherwise.

    `step`: the number of the step; its contents are adjacent. `parent`: the number of the step that it was made in.
    `kind`, `edge_kind`, `known_by`, `support`: codes as in `KINDS` and so on. `agent`, `callee_url`, `callee_name`:
    codes of names, also of the empty one. `request`: the rank of the request's digest. `failed`, `answered`: as in
    `StepRecord`. `latency_ms`: milliseconds, NaN if unknown. `started_us`: microseconds since 1970, `NEVER` if unknown.
    `tokens`: of the step and those below it. `model`: the code of the model that the step called, `NO_MODEL_CALL`
    if it called none. `model_tokens`, `model_input`, `model_output`: the tokens of that call. `source`: the index in
    `sources` of those who attest the content.
    """

    step: Codes
    parent: Codes
    kind: Bytes
    agent: Codes
    callee_url: Codes
    callee_name: Codes
    request: Codes
    edge_kind: Bytes
    known_by: Bytes
    support: Bytes
    failed: Flags
    answered: Flags
    latency_ms: Amounts
    started_us: Numbers
    tokens: Numbers
    model: Codes
    model_tokens: Numbers
    model_input: Numbers
    model_output: Numbers
    source: Codes

    def __len__(self) -> int:
        return len(self.step)

    def take(self, rows: "np.ndarray[tuple[int], np.dtype[np.intp]]") -> "StepColumns":
        """These rows, in their order."""
        return StepColumns(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a trace: their columns, and what few of them have.

    `step_ids`, `traces`: by step number, its id and the index of its trace in `trace_ids`. `parent_ids`: by row, of
    the parents that nobody reported. `errors`: by row, of the steps that failed. `retry_of`: by row, the step id of
    the attempt that it repeats. `requests`: the digests of all requests, 16 bytes each, by rank.
    """

    columns: StepColumns
    names: Names
    step_ids: Texts
    traces: Codes
    trace_ids: Sequence[str]
    sources: Sequence[tuple[Attestation, ...]]
    requests: bytes
    parent_ids: Mapping[int, str] = field(default_factory=dict)
    errors: Mapping[int, str] = field(default_factory=dict)
    retry_of: Mapping[int, str] = field(default_factory=dict)

    def step_id(self, row: int) -> str:
        """The id of the step in a row."""
        return self.step_ids[int(self.columns.step[row])]

    def trace_id(self, row: int) -> str:
        """The id of the trace in a row."""
        return self.trace_ids[int(self.traces[self.columns.step[row]])]

    def request_digest(self, rank: int) -> str:
        """The digest of a request, in hexadecimal digits."""
        return self.requests[16 * rank : 16 * rank + 16].hex()

    def attestations(self, row: int) -> tuple[Attestation, ...]:
        """Who attests the content in a row, sorted by reporter."""
        return self.sources[int(self.columns.source[row])]

    def of_sources(self, fact: str) -> Flags:
        """By row, whether any of its attestations has this fact: `observed` or `direct`."""
        by_source = [any(getattr(each, fact) for each in source) for source in self.sources]
        found: Flags = np.array(by_source, np.bool_)[self.columns.source]
        return found

    def without_claimed_latencies(self) -> "Steps":
        """The same without latencies that the gateway did not measure: an assessed agent could report any."""
        measured = np.where(self.of_sources("observed"), self.columns.latency_ms, np.nan)
        return replace(self, columns=replace(self.columns, latency_ms=measured))

    def record(self, row: int) -> StepRecord:
        """The facts in one row."""
        columns, names = self.columns, self.names.texts
        parent, request, started = (int(each[row]) for each in (columns.parent, columns.request, columns.started_us))
        tokens, latency = int(columns.tokens[row]), float(columns.latency_ms[row])
        known_by, support = int(columns.known_by[row]), int(columns.support[row])
        return StepRecord(
            trace_id=self.trace_id(row),
            step_id=self.step_id(row),
            parent_id=self.step_ids[parent] if parent >= 0 else self.parent_ids.get(row),
            kind=KINDS[columns.kind[row]],
            agent_name=names[columns.agent[row]],
            callee_url=names[columns.callee_url[row]],
            callee_name=names[columns.callee_name[row]],
            request_digest=None if request == NONE else self.request_digest(request),
            retry_of=self.retry_of.get(row),
            edge_kind=EDGE_KINDS[columns.edge_kind[row]],
            known_by=None if known_by == NONE else SOURCES[known_by],
            support=None if support == NONE else SUPPORTS[support],
            error=self.errors.get(row),
            answered=bool(columns.answered[row]),
            latency_ms=None if latency != latency else latency,
            started_us=None if started == NEVER else started,
            tokens=None if tokens == NONE else tokens,
            attestations=self.attestations(row),
        )


def moved(facts: Mapping[int, Fact], place: Numbers) -> dict[int, Fact]:
    """Facts by row, by the places of their rows. `place`: by row, `NONE` for one that is left out."""
    rows = np.fromiter(facts, np.int64, len(facts))
    return {at: fact for at, fact in zip(place[rows].tolist(), facts.values(), strict=True) if at != NONE}
