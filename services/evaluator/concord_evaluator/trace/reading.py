"""Reading reports into columns, chunk by chunk, so that memory never holds the whole trace in parsed form."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
from msgspec import UNSET

from concord.trace.attributes import EdgeKind
from concord.trace.report import Report, json_digests
from concord.trace.step import CallType
from concord_evaluator.trace.chunks import Chunk, Sources, chunks
from concord_evaluator.trace.columns import (
    EDGE_KINDS,
    KINDS,
    NO_MODEL_CALL,
    NONE,
    SOURCES,
    SUPPORTS,
    Bytes,
    Codes,
    Names,
    StepColumns,
    Steps,
)
from concord_evaluator.trace.fields import call_in, failure_of, kinds_of, latencies_ms, starts_us, tokens_of
from concord_evaluator.trace.lean_steps import LeanAttributes, LeanStep
from concord_evaluator.trace.model_uses import counts_of, lean_calls_model, model_in
from concord_evaluator.trace.request_texts import RequestTexts
from concord_evaluator.trace.step_numbers import StepNumbers
from concord_evaluator.trace.trees import Numbers, compact

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
