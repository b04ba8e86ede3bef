"""Reading reports into columns, chunk by chunk, so that memory never holds the whole trace in parsed form."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import UNSET, UnsetType

from concord.assessment.cost import MAX_USES, ModelUse
from concord.trace.attributes import EdgeKind
from concord.trace.otlp import genai
from concord.trace.report import Report
from concord.trace.step import CallType
from concord.trace.stored_step import Step, json_digests
from concord_evaluator.trace.chunks import (
    Chunk,
    LeanAttributes,
    LeanStep,
    Sources,
    call_in,
    chunks,
    failure_of,
    kinds_of,
    latencies_ms,
    starts_us,
    tokens_of,
)
from concord_evaluator.trace.columns import (
    EDGE_KINDS,
    KINDS,
    NO_MODEL_CALL,
    NONE,
    SOURCES,
    SUPPORTS,
    UNREPORTED,
    Bytes,
    Codes,
    Names,
    StepColumns,
    Steps,
    cases,
    changes,
)
from concord_evaluator.trace.texts import SPREAD, TextBuffer, Texts
from concord_evaluator.trace.trees import Numbers, compact

# Numbers of steps: each reported step once, in the order of the reports, and the number of each step's parent.

_Hashes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint64]]"


@dataclass(frozen=True, slots=True)
class Numbered:
    """`step`, `parent`: by report, the number of its step and of the step's parent, or `NONE`, or `UNREPORTED`.

    `step_ids`, `traces`: by step number, its id and the code of its trace. `unreported`: by report, the id of the
    parent that nobody reported.
    """

    step: Codes
    parent: Codes
    step_ids: Texts
    traces: Codes
    trace_ids: Sequence[str]
    unreported: dict[int, str]


class StepNumbers:
    """Numbers steps by trace and id, once all are known."""

    def __init__(self) -> None:
        self._trace_ids, self._ids = Names(), TextBuffer()
        self._traces, self._own, self._above, self._children = (array("i") for _ in range(4))
        self._hashes = array("Q")

    def add(self, trace_ids: Sequence[str], step_ids: Sequence[str], parent_ids: Sequence[str | None]) -> None:
        """Adds reports of steps, each with the step's trace, its id and its parent's."""
        traces = self._trace_ids.codes(trace_ids)
        told = np.flatnonzero(np.fromiter(map(bool, parent_ids), np.bool_, len(parent_ids)))
        ids = [*step_ids, *filter(None, parent_ids)]
        first, between, end = len(self._traces), len(self._traces) + len(step_ids), len(self._traces) + len(ids)
        self._children.frombytes((len(self._own) + told).astype(np.int32).tobytes())
        self._own.frombytes(np.arange(first, between, dtype=np.int32).tobytes())
        self._above.frombytes(np.arange(between, end, dtype=np.int32).tobytes())
        of_ids = np.append(traces, traces[told])
        hashes = np.fromiter(map(hash, ids), np.int64, len(ids)).view(np.uint64)
        self._traces.frombytes(of_ids.tobytes())
        self._hashes.frombytes((hashes ^ (of_ids.astype(np.uint64) * SPREAD)).tobytes())
        self._ids.add(ids)

    def numbered(self) -> Numbered:
        """The numbers of all steps that were added. Forgets their ids."""
        traces, own, above, child = (
            np.frombuffer(each, np.int32) for each in (self._traces, self._own, self._above, self._children)
        )
        ids, rows = self._ids.texts(), len(own)
        first = _first(ids, traces, np.frombuffer(self._hashes, np.uint64))
        reporting = np.full(len(ids), NONE, np.int32)
        reporting[first[own[::-1]]] = np.arange(rows, dtype=np.int32)[::-1]
        row, outer = reporting[first[own]], reporting[first[above]]
        new = row == np.arange(rows)
        number = np.cumsum(new, dtype=np.int32) - 1
        parent = np.full(rows, NONE, np.int32)
        parent[child] = np.where(outer == NONE, UNREPORTED, number[outer])
        unknown = np.flatnonzero(outer == NONE)
        return Numbered(
            number[row],
            parent,
            ids.only(own[new]),
            traces[own[new]],
            self._trace_ids.texts,
            dict(zip(child[unknown].tolist(), ids.only(above[unknown]), strict=True)),
        )


def _first(ids: Texts, traces: Codes, hashes: _Hashes) -> Codes:
    """By place, the first place of the same id in the same trace. `hashes`: of both."""
    order = np.argsort(hashes, kind="stable").astype(np.int32)
    new = changes(hashes[order])
    first = np.empty(len(order), np.int32)
    first[order] = order[new][np.cumsum(new) - 1]
    again = np.flatnonzero(first != np.arange(len(first)))
    if (traces[again] == traces[first[again]]).all() and ids.only(again).equals(ids.only(first[again])):
        return first
    places: dict[tuple[int, str], int] = {}  # equal hashes of different ids, which somebody may have searched
    return np.fromiter(map(places.setdefault, zip(traces.tolist(), ids, strict=True), count()), np.int32, len(ids))


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


def with_nested(step: Step) -> Iterator[tuple[Step, bool]]:
    """The step (True: reported directly), and the steps in its answer (False: relayed), at any depth."""
    pending = [(step, True)]
    while pending:
        each, direct = pending.pop()
        yield each, direct
        pending.extend((nested, False) for nested in each.answer_steps)


# Which models the agents of a trace say that they called, and the tokens of these calls.

CLIENT_PREFIX: Final = "llm:"
"""What Concord's own client puts before a model's name in a step."""

_LOW: Final = 2**32 - 1
_OPERATION: Final = "gen_ai.operation.name"
_NO_MODEL: Final = frozenset({"retrieval", "retriever", "reranker"})
"""Operations on an index, which genai counts among those on models."""

_MODELS: Final = genai.MODEL_OPERATIONS - _NO_MODEL


def calls_model(step: Step, attributes: Mapping[str, str]) -> bool:
    """Whether a step of the kind `TOOL` is the call of a model, and not the use of another tool."""
    return _is_model(step.total_tokens, attributes.get(_OPERATION))


def lean_calls_model(step: LeanStep) -> bool:
    """The same of a lean step."""
    operation = step.additional_attributes.operation
    return _is_model(step.total_tokens, None if operation is UNSET else operation)


def _is_model(told: int | None, operation: str | None) -> bool:
    """A model has an operation or tokens."""
    return told is not None if operation is None else operation in _MODELS


def model_in(step: LeanStep) -> str:
    """The name of the model that a step called; empty if the step does not tell it."""
    used = None if step.step_action is None else step.step_action.tool_invocation
    return "" if used is None else used.tool_name.removeprefix(CLIENT_PREFIX)


def counts_of(told: Sequence[str | UnsetType]) -> Numbers:
    """The tokens that attributes tell; `NONE` for those that are no count."""
    return np.fromiter([NONE if each is UNSET else _count(each) for each in told], np.int64, len(told))


def _count(text: str) -> int:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else NONE


@dataclass(frozen=True, slots=True)
class Users:
    """`row`: of each model call; `agent`: the code of the agent that made it."""

    row: Numbers
    agent: Codes


def summed_uses(users: Users, steps: Steps) -> Sequence[ModelUse]:
    """The calls by agent and model, most calls first; at most `MAX_USES`."""
    names, columns = steps.names.texts, steps.columns
    first, case = cases(users.agent, columns.model[users.row])
    tokens, read, written = (
        each[users.row] for each in (columns.model_tokens, columns.model_input, columns.model_output)
    )
    untold = tokens == NONE
    counted = (np.ones(len(case), np.bool_), untold, ~untold & ((read == NONE) | (written == NONE)))
    counts = [np.bincount(case[each], minlength=len(first)).tolist() for each in counted]
    sums = [_sums(np.maximum(each, 0), case, len(first)) for each in (tokens, read, written)]
    ends = zip(users.agent[first].tolist(), columns.model[users.row[first]].tolist(), strict=True)
    summed = [
        ModelUse(
            agent=names[agent],
            model=None if model == NONE else names[model],
            calls=calls,
            untold=untold,
            unsplit=unsplit,
            tokens=total,
            input_tokens=into,
            output_tokens=out_of,
        )
        for (agent, model), calls, untold, unsplit, total, into, out_of in zip(ends, *counts, *sums, strict=True)
    ]
    return sorted(summed, key=lambda use: (-use.calls, use.agent, use.model or ""))[:MAX_USES]


def _sums(amounts: Numbers, case: Numbers, n_cases: int) -> list[int]:
    """The sum of each case. Adds the halves of the numbers, since whole ones of 63 bits would overflow."""
    low, high = np.zeros((2, n_cases), np.int64)
    amounts = amounts.astype(np.int64)
    np.add.at(low, case, amounts & _LOW)
    np.add.at(high, case, amounts >> 32)
    return [(above << 32) + below for above, below in zip(high.tolist(), low.tolist(), strict=True)]


# The reading of reports into columns.

MAX_ERROR: Final = 200
"""Characters of an error that are kept."""

_AGENT, _TOOL = KINDS.index(CallType.AGENT), KINDS.index(CallType.TOOL)
_DELEGATION: Final = EDGE_KINDS.index(EdgeKind.DELEGATION)
_EDGE_KIND_CODES, _SOURCE_CODES, _SUPPORT_CODES = (
    dict[object, int](zip(members, range(len(members)), strict=True)) for members in (EDGE_KINDS, SOURCES, SUPPORTS)
)

_Column: TypeAlias = "np.ndarray[tuple[int], np.dtype[Any]]"


@dataclass(frozen=True, slots=True)
class ReadTrace:
    """What reports tell, a row for each report of a step. `carriers`: by row of a step that came in an answer, the row
    of the call that carried it. `sizes`: as in `Chunk`, of all batches. `texts`: a sample of the texts of requests, by
    request digest.
    """

    steps: Steps
    carriers: Mapping[int, int]
    sizes: Sequence[int]
    texts: Mapping[str, str]


def read_trace(reports: Iterable[Report]) -> ReadTrace:
    """Reads all reports, in their order."""
    reading = _Reading()
    for chunk in chunks(reports, reading.sources):
        reading.add(chunk)
    return ReadTrace(reading.steps(), reading.carriers, reading.sizes, reading.sampled_texts())


class _Reading:
    """The columns of the chunks read so far."""

    def __init__(self) -> None:
        self.sources = Sources()
        self.carriers: dict[int, int] = {}
        self.sizes: list[int] = []
        self._rows = 0
        self._numbers, self._names, self._texts = StepNumbers(), Names(), RequestTexts()
        self._empty = self._names.code("")
        self._parts: defaultdict[str, list[_Column]] = defaultdict(list)
        self._asked, self._requests = array("i"), bytearray()
        self._errors: dict[int, str] = {}
        self._retry_of: dict[int, str] = {}

    def add(self, chunk: Chunk) -> None:
        """Adds the steps of a chunk."""
        steps, first = chunk.steps, self._rows
        attributes = [step.additional_attributes for step in steps]
        kind, tokens = kinds_of(steps), tokens_of(steps)
        self._numbers.add(
            [step.trace_id for step in steps],
            [step.step_id for step in steps],
            [step.parent_step_id for step in steps],
        )
        columns: dict[str, _Column] = {
            "source": np.fromiter(chunk.sources, np.int32, len(steps)),
            "kind": kind,
            "latency_ms": latencies_ms(steps),
            "started_us": starts_us(steps),
            "tokens": tokens,
            "agent": self._names.codes([each.agent_name or each.spans_agent or "" for each in attributes]),
            **self._calls(steps, kind),
            **self._edges(attributes),
            **self._models(steps, kind, tokens),
            **self._failures(steps, attributes),
        }
        for name, column in columns.items():
            self._parts[name].append(column)
        self.carriers |= {first + inner: first + outer for inner, outer in chunk.carriers.items()}
        self.sizes += chunk.sizes
        self._rows += len(steps)

    def _calls(self, steps: Sequence[LeanStep], kind: Bytes) -> dict[str, _Column]:
        url, name = np.full((2, len(steps)), self._empty, np.int32)
        places = np.flatnonzero(kind == _AGENT).tolist()
        calls = [call_in(steps[place]) for place in places]
        url[places] = self._names.codes([call.agent_url for call in calls])
        name[places] = self._names.codes([call.agent_name for call in calls])
        requests = [call.requests for call in calls if call.requests]
        digests = json_digests(requests)
        self._asked.extend([self._rows + place for place, call in zip(places, calls, strict=True) if call.requests])
        self._requests += b"".join(digests)
        self._texts.add(zip(digests, requests, strict=True))
        return {"callee_url": url, "callee_name": name}

    def _edges(self, attributes: Sequence[LeanAttributes]) -> dict[str, _Column]:
        kind = np.full(len(attributes), _DELEGATION, np.int8)
        known_by, support = np.full((2, len(attributes)), NONE, np.int8)
        for place, each in enumerate(attributes):
            if each.edge_kind or each.known_by or each.support or each.retry_of:
                kind[place] = _EDGE_KIND_CODES.get(each.edge_kind, _DELEGATION)
                known_by[place] = _SOURCE_CODES.get(each.known_by, NONE)
                support[place] = _SUPPORT_CODES.get(each.support, NONE)
                if each.retry_of:
                    self._retry_of[self._rows + place] = each.retry_of
        return {"edge_kind": kind, "known_by": known_by, "support": support}

    def _models(self, steps: Sequence[LeanStep], kind: Bytes, tokens: Numbers) -> dict[str, _Column]:
        model = np.full(len(steps), NO_MODEL_CALL, np.int32)
        amounts = np.full((3, len(steps)), NONE, np.int64)
        places = [place for place in np.flatnonzero(kind == _TOOL).tolist() if lean_calls_model(steps[place])]
        uses = [steps[place] for place in places]
        names = self._names.codes([model_in(step) for step in uses])
        model[places] = np.where(names == self._empty, NONE, names)
        read = counts_of([step.additional_attributes.input_tokens for step in uses])
        written = counts_of([step.additional_attributes.output_tokens for step in uses])
        split = (read != NONE) & (written != NONE)
        amounts[:, places] = np.where(split, read + written, tokens[places]), read, written
        told, read, written = map(compact, amounts)
        return {"model": model, "model_tokens": told, "model_input": read, "model_output": written}

    def _failures(self, steps: Sequence[LeanStep], attributes: Sequence[LeanAttributes]) -> dict[str, _Column]:
        failed, answered = np.zeros(len(steps), np.bool_), np.ones(len(steps), np.bool_)
        for place, (step, each) in enumerate(zip(steps, attributes, strict=True)):
            if (step.error is not None or each.error is not UNSET) and (failure := failure_of(step)) is not None:
                self._errors[self._rows + place] = failure[:MAX_ERROR]
                failed[place], answered[place] = True, each.task_state is not UNSET
        return {"failed": failed, "answered": answered}

    def steps(self) -> Steps:
        """The steps read, a row for each report."""
        numbered = self._numbers.numbered()
        self._numbers = StepNumbers()  # drops the hashes
        columns = {name: self._column(name) for name in list(self._parts)}
        columns["step"], columns["parent"] = numbered.step, numbered.parent
        columns["request"], digests = _ranked(self._requests, np.frombuffer(self._asked, np.int32), self._rows)
        return Steps(
            StepColumns(**columns),
            self._names,
            numbered.step_ids,
            numbered.traces,
            numbered.trace_ids,
            self.sources.attestations,
            digests,
            numbered.unreported,
            self._errors,
            self._retry_of,
        )

    def _column(self, name: str) -> _Column:
        """The column as one array. Drops its parts, so that memory never holds all columns twice."""
        return np.concatenate(self._parts.pop(name))

    def sampled_texts(self) -> dict[str, str]:
        """A sample of the texts of requests, by request digest."""
        return {digest.hex(): text for digest, text in self._texts.sample().items()}


def _ranked(digests: bytearray, asked: Codes, rows: int) -> tuple[Codes, bytes]:
    """By row, the rank of its digest of 16 bytes, of which the rows in `asked` have one; and all digests by rank."""
    ranks = np.full(rows, NONE, np.int32)
    high, low = np.frombuffer(digests, ">u8").reshape(-1, 2).astype(np.uint64).T
    order = np.lexsort((low, high))
    high, low = high[order], low[order]
    new = np.ones(len(order), np.bool_)
    new[1:] = (high[1:] != high[:-1]) | (low[1:] != low[:-1])
    found = np.empty(len(order), np.int32)
    found[order] = np.cumsum(new) - 1
    ranks[asked] = found
    return ranks, np.stack([high[new], low[new]], axis=1).astype(">u8").tobytes()
