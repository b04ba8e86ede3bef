"""The columns of a trace: the facts of its steps as typed arrays, with their texts, distinct cases and trees."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, TypeAlias, TypeVar, overload

import msgspec
import numpy as np

from concord.trace.attributes import EdgeKind, KnownBy, Support
from concord.trace.step import CallType

# Trees as arrays: node `i` has the parent `parents[i]`. Depths, cycles, and what nodes have from their ancestors.
#
# Every function doubles the distance that it looks up in each round, so that a tree of any depth takes few rounds.

ROOT: Final = -1
"""The parent of a node without a parent."""

Numbers: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int64]]"
_Flags: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.bool_]]"
_Amounts: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.float64]]"


def viewed(array: "np.ndarray[tuple[int], np.dtype[Any]]") -> Sequence[int]:
    """The array for a loop over its numbers, a million of which would take forty megabytes as a list."""
    return array.data


def compact(numbers: Numbers) -> Numbers:
    """The same in half of the memory, if they fit. They are not below -1."""
    return numbers.astype(np.int32) if numbers.max(initial=0) < 2**31 else numbers


@dataclass(frozen=True, slots=True)
class Order:
    """`cyclic`: whether a node is its own ancestor; those merely below a cycle are not. `depth`: the number of
    ancestors that are not on a cycle; 0 on a cycle.
    """

    cyclic: _Flags
    depth: Numbers


def ordered(parents: Numbers) -> Order:
    """The depths of nodes, and which of them are on cycles."""
    cyclic = np.zeros(len(parents), np.bool_)
    above, depth = _climbed(parents)
    endless = above != len(parents)
    if endless.any():
        cyclic[above[endless]] = True
        below = (parents != ROOT) & cyclic[parents]
        _, depth = _climbed(np.where(cyclic | below, ROOT, parents))
    return Order(cyclic, depth)


def _climbed(parents: Numbers) -> tuple[Numbers, Numbers]:
    """Where a walk up ends that is longer than any path, with `len(parents)` above the roots; and its length."""
    above, depth = _above(parents), np.append((parents != ROOT).astype(np.int64), 0)
    for _ in range(len(parents).bit_length()):
        if (above == len(parents)).all():
            break
        depth += depth[above]
        above = above[above]
    return above[:-1], depth[:-1]


def nearest(parents: Numbers, chosen: _Flags) -> Numbers:
    """By node, its nearest chosen ancestor, or `ROOT`. `parents` without cycles."""
    above, stops = _above(parents), np.append(chosen, True)
    while not stops[above].all():
        above = np.where(stops[above], above, above[above])
    found = above[:-1]
    return np.where(found == len(parents), ROOT, found)


def below_any(parents: Numbers, chosen: _Flags) -> _Flags:
    """By node, whether any ancestor of it is chosen. `parents` without cycles."""
    found: _Flags = nearest(parents, chosen) != ROOT
    return found


def largest_above(parents: Numbers, values: _Amounts) -> _Amounts:
    """By node, the largest value among it and its ancestors. `parents` without cycles."""
    above, largest = _above(parents), np.append(values, -np.inf)
    while not (above == len(parents)).all():
        largest = np.maximum(largest, largest[above])
        above = above[above]
    return largest[:-1]


def _above(parents: Numbers) -> Numbers:
    """The parents with one more node, which stands above the roots and itself."""
    size = len(parents)
    return np.append(np.where(parents == ROOT, size, parents), size)


# Texts: many ids in one buffer of bytes, which takes a third of the memory of as many strings.

_Places: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]] | Numbers"
_Lengths: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.int32]]"
_Eights: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint64]]"

_EIGHT: Final = 8
"""Bytes by which texts are compared at first; UTF-8 sorts as its characters do."""

SPREAD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Spreads numbers over all bits (Knuth's multiplicative hashing)."""

_AT_ONCE: Final = 1 << 14
"""Texts that are compared at once, so that comparing takes little memory."""

_FEW: Final = 64
"""Texts that are sooner sorted as strings than compared as arrays."""


class TextBuffer:
    """Grows by texts."""

    def __init__(self) -> None:
        self._data = bytearray()
        self._lengths: list[_Lengths] = [np.zeros(0, np.int32)]

    def add(self, texts: Sequence[str]) -> None:
        """Adds these texts."""
        joined = "".join(texts)
        if joined.isascii():
            self._data += joined.encode()
            self._lengths.append(np.fromiter(map(len, texts), np.int32, len(texts)))
        else:
            encoded = [_encoded(text) for text in texts]
            self._data += b"".join(encoded)
            self._lengths.append(np.fromiter(map(len, encoded), np.int32, len(encoded)))

    def texts(self) -> "Texts":
        """All texts, in their order. Forgets them, so that memory does not hold them twice."""
        lengths = np.concatenate(self._lengths)
        data, self._data = self._data, bytearray()
        begins = np.cumsum(lengths, dtype=np.int64) - lengths
        small = begins.astype(np.int32) if len(data) < 2**31 else begins
        data += bytes(_EIGHT)
        return Texts(np.frombuffer(data, np.uint8), small, lengths)


@dataclass(frozen=True, slots=True)
class Texts(Sequence[str]):
    """Texts in UTF-8: where each begins in `data`, and its length in bytes. Eight more bytes follow the last one."""

    data: "np.ndarray[tuple[int], np.dtype[np.uint8]]"
    begins: _Places
    lengths: _Lengths

    def __len__(self) -> int:
        return len(self.begins)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: int | slice) -> str | list[str]:
        if isinstance(place, slice):
            return [self[each] for each in range(len(self))[place]]
        begin = int(self.begins[place])
        return self.data[begin : begin + int(self.lengths[place])].tobytes().decode("utf-8", "surrogatepass")

    def only(self, chosen: "_Places | _Flags") -> "Texts":
        """These texts, in the same buffer: their places, or by text whether it is one of them."""
        return Texts(self.data, self.begins[chosen], self.lengths[chosen])

    def equals(self, other: "Texts") -> bool:
        """Whether each text equals the one in the same place of the other, which has as many."""
        if (self.lengths != other.lengths).any():
            return False
        for some in self._blocks(np.arange(len(self))):
            for length in np.unique(self.lengths[some]).tolist():
                alike = some[self.lengths[some] == length]
                if (self._bytes(alike, length) != other._bytes(alike, length)).any():
                    return False
        return True

    def smallest(self, places: _Places, at_most: int) -> list[str]:
        """The first `at_most` distinct ones of the texts in these places as they sort."""
        if len(places) <= _FEW:
            return sorted(set(self._in(places)))[:at_most]
        found: list[str] = []
        for some in self._blocks(places):
            prefixes = self._eight(some)
            some = some[prefixes <= np.unique(prefixes)[:at_most][-1]]
            keys = self._padded(some)
            if len(found) == at_most:
                before = keys <= _encoded(found[-1])
                some, keys = some[before], keys[before]
            some = some[keys <= np.unique(keys)[:at_most][-1]] if len(some) else some
            found = sorted({*found, *self._in(some)})[:at_most]
        return found

    def places(self, wanted: Collection[str]) -> Numbers:
        """The places of the texts that are among the wanted ones."""
        sought = TextBuffer()
        sought.add([*wanted])
        marks = (texts := sought.texts())._marks(np.arange(len(texts)))
        found: list[int] = []
        for some in self._blocks(np.arange(len(self))):
            alike = some[np.isin(self._marks(some), marks)].tolist()
            found += [place for place in alike if self[place] in wanted]
        return np.array(found, np.int64)

    def _in(self, places: _Places) -> Iterator[str]:
        """The texts in these places."""
        return map(self.__getitem__, places.tolist())

    def _blocks(self, places: _Places) -> Iterator[_Places]:
        return (places[first : first + _AT_ONCE] for first in range(0, len(places), _AT_ONCE))

    def _bytes(self, places: _Places, length: int) -> "np.ndarray[tuple[int, int], np.dtype[np.uint8]]":
        found: np.ndarray[tuple[int, int], np.dtype[np.uint8]] = self.data[
            self.begins[places][:, None] + np.arange(length)
        ]
        return found

    def _eight(self, places: _Places, *, last: bool = False) -> _Eights:
        """The first or the last eight bytes of texts, as numbers that sort as they do. A shorter text ends in zeros."""
        lengths = np.minimum(self.lengths[places], _EIGHT)
        begins = self.begins[places] + (self.lengths[places] - lengths if last else 0)
        found = self.data[begins[:, None] + np.arange(_EIGHT)]
        found[np.arange(_EIGHT) >= lengths[:, None]] = 0
        eights: _Eights = found.view(">u8").ravel().astype(np.uint64)
        return eights

    def _marks(self, places: _Places) -> _Eights:
        """Numbers that are equal for equal texts, and seldom for others: many ids have long beginnings in common."""
        return self._eight(places) * SPREAD ^ self._eight(places, last=True)

    def _padded(self, places: _Places) -> "np.ndarray[tuple[int], np.dtype[np.bytes_]]":
        """Texts for a comparison that takes zeros at their ends for none."""
        lengths = self.lengths[places]
        longest = int(lengths.max(initial=1))
        at = np.minimum(self.begins[places][:, None] + np.arange(longest), len(self.data) - 1)
        found = self.data[at]
        found[np.arange(longest) >= lengths[:, None]] = 0
        padded: np.ndarray[tuple[int], np.dtype[np.bytes_]] = found.view(f"S{longest}").ravel()
        return padded


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


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


# The columns of a trace: the facts of its steps as typed arrays. Every array has a row for each content of a step.

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
