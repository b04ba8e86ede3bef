"""The columns of a trace: the facts of its steps as typed arrays, and the distinct cases in them."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final, TypeAlias

import msgspec
import numpy as np

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.step import CallType
from concord_evaluator.trace.trees import Numbers

# Cases: the distinct combinations in several columns, so that what depends on them alone is found once for each.

Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"


def cases(first: Numbers, *others: Numbers) -> tuple[Numbers, Numbers]:
    """The first row of each distinct combination, and by row the number of its combination, in order of the columns."""
    order = np.lexsort((*reversed(others), first))
    new = changes(*(column[order] for column in (first, *others)))
    case = np.empty(len(order), np.int64)
    case[order] = np.cumsum(new) - 1
    return order[new], case


def changes(*columns: "np.ndarray[tuple[int], np.dtype[Any]]") -> Flags:
    """By row, whether any of the columns differs from the row before. True for the first row."""
    new = np.zeros(len(columns[0]), np.bool_)
    new[:1] = True
    for column in columns:
        new[1:] |= column[1:] != column[:-1]
    return new


def pairs(first: Numbers, second: Numbers) -> tuple["np.ndarray[tuple[int, int], np.dtype[np.int64]]", Numbers]:
    """The distinct pairs of both columns, sorted, a row for each; and how often each occurs. The columns hold no
    negative numbers."""
    size = int(second.max(initial=0)) + 1
    distinct, times = np.unique(first * size + second, return_counts=True)
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

Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"

KINDS: Final = tuple(CallType)
EDGE_KINDS: Final = tuple(EdgeKind)
SOURCES: Final = tuple(KnownBy)
SUPPORTS: Final = tuple(Support)
"""The members by their codes in the columns."""

NONE: Final = -1
"""The code, number or amount of what a step does not tell."""

NEVER: Final = -(2**63)
"""The start of a step that does not tell it."""

NO_MODEL_CALL: Final = -2
"""The model of a step that called none."""


class Names(dict[str, int]):
    """Texts with their codes, the next one for a text that is not known yet. Names of agents, addresses, models and
    reporters, and errors: each is held once.

    `texts`: by code.
    """

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def __missing__(self, text: str) -> int:
        code = self[text] = len(self.texts)
        self.texts.append(text)
        return code

    def code(self, text: str) -> int:
        """The code of a text."""
        return self[text]

    def ranks(self, codes: Numbers) -> Numbers:
        """The place of each of these names among all names as they sort."""
        place = np.empty(len(self.texts), np.int64)
        place[sorted(range(len(self.texts)), key=self.texts.__getitem__)] = np.arange(len(self.texts))
        ranks: Numbers = place[codes]
        return ranks


@dataclass(frozen=True, slots=True)
class StepColumns:
    """The facts of steps: arrays of one length, with a row for each content of a step. `NONE` stands for what a step
    does not tell, in all columns but those that say otherwise.

    `step`, `parent`, `retry_of`: the numbers of the step, of the one that it was made in, and of the attempt that it
    repeats; nobody may have reported the latter two. The contents of a step are adjacent. `kind`, `edge_kind`,
    `known_by`, `support`: codes as in `KINDS` and so on. `agent`, `callee_url`, `callee_name`: codes of names, also of
    the empty one. `request`: the rank of the request's digest. `error`: the code of what went wrong. `answered`: as in
    `StepRecord`. `latency_ms`: milliseconds, NaN if unknown. `started_us`: microseconds since 1970, `NEVER` if unknown.
    `tokens`: of the step and those below it. `model`: the code of the model that the step called, `NO_MODEL_CALL`
    if it called none. `model_tokens`, `model_input`, `model_output`: the tokens of that call. `source`: the index in
    `Steps.sources` of those who attest the content.
    """

    step: Numbers
    parent: Numbers
    retry_of: Numbers
    kind: Numbers
    agent: Numbers
    callee_url: Numbers
    callee_name: Numbers
    request: Numbers
    edge_kind: Numbers
    known_by: Numbers
    support: Numbers
    error: Numbers
    answered: Flags
    latency_ms: Amounts
    started_us: Numbers
    tokens: Numbers
    model: Numbers
    model_tokens: Numbers
    model_input: Numbers
    model_output: Numbers
    source: Numbers

    def __len__(self) -> int:
        return len(self.step)

    @property
    def failed(self) -> Flags:
        """By row, whether the step has an error."""
        failed: Flags = self.error != NONE
        return failed

    def take(self, rows: Numbers) -> "StepColumns":
        """These rows, in their order."""
        return StepColumns(**{each.name: getattr(self, each.name)[rows] for each in fields(self)})


@dataclass(frozen=True, slots=True)
class Steps:
    """The steps of a trace: their columns, and the texts behind the codes in these.

    `step_ids`, `traces`: by step number, its id and the index of its trace in `trace_ids`, also of steps that nobody
    reported. `sources`: by index, those who attest a content. `requests`: the digests of all requests, 16 bytes each,
    by rank.
    """

    columns: StepColumns
    names: Names
    step_ids: Sequence[str]
    traces: Numbers
    trace_ids: Sequence[str]
    sources: Sequence[tuple[Attestation, ...]]
    requests: bytes

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
        parent, retry_of, request = columns.parent[row], columns.retry_of[row], int(columns.request[row])
        started, tokens, latency = (
            int(columns.started_us[row]),
            int(columns.tokens[row]),
            float(columns.latency_ms[row]),
        )
        known_by, support, error = columns.known_by[row], columns.support[row], columns.error[row]
        return StepRecord(
            trace_id=self.trace_id(row),
            step_id=self.step_id(row),
            parent_id=None if parent == NONE else self.step_ids[parent],
            kind=KINDS[columns.kind[row]],
            agent_name=names[columns.agent[row]],
            callee_url=names[columns.callee_url[row]],
            callee_name=names[columns.callee_name[row]],
            request_digest=None if request == NONE else self.request_digest(request),
            retry_of=None if retry_of == NONE else self.step_ids[retry_of],
            edge_kind=EDGE_KINDS[columns.edge_kind[row]],
            known_by=None if known_by == NONE else SOURCES[known_by],
            support=None if support == NONE else SUPPORTS[support],
            error=None if error == NONE else names[error],
            answered=bool(columns.answered[row]),
            latency_ms=None if latency != latency else latency,
            started_us=None if started == NEVER else started,
            tokens=None if tokens == NONE else tokens,
            attestations=self.attestations(row),
        )
