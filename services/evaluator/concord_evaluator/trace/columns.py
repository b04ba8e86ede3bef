"""The columns of a trace: the facts of its steps as typed arrays. Every array has a row for each content of a step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Final, TypeAlias, TypeVar

import numpy as np

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.step import CallType
from concord_evaluator.trace.records import Attestation, StepRecord
from concord_evaluator.trace.texts import Texts
from concord_evaluator.trace.trees import Numbers

Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int8]]"
Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"
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
