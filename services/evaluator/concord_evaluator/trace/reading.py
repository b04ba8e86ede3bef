"""Reading reports into columns, one by one, so that memory never holds the whole trace in parsed form."""

from array import array
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import numpy as np

from concord.trace.attributes import (
    AGENT_NAME,
    EDGE_KIND,
    RETRY_OF,
    TASK_STATE,
    EdgeKind,
    edge_kind_of,
    known_by_of,
    support_of,
)
from concord.trace.digest import request_digest
from concord.trace.report import Channel, Report
from concord.trace.step import CallType, StepFacts, as_utc
from concord_evaluator.trace.columns import (
    EDGE_KINDS,
    KINDS,
    NEVER,
    NO_MODEL_CALL,
    NONE,
    SOURCES,
    SUPPORTS,
    UNREPORTED,
    Codes,
    Names,
    StepColumns,
    Steps,
)
from concord_evaluator.trace.model_uses import use_in
from concord_evaluator.trace.records import Attestation
from concord_evaluator.trace.request_texts import RequestTexts

AGENT_NAME_ATTRIBUTES: Final = (AGENT_NAME, "gen_ai.agent.name")
"""Attributes in which a participant that is itself a team names the inner agent that made a step."""

MAX_ERROR: Final = 200
"""Characters of an error that are kept."""

_AGENT, _TOOL = CallType.AGENT, CallType.TOOL
_OBSERVED: Final = Channel.OBSERVED
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)
_UNKNOWN_MS: Final = float("nan")
_EARLIEST: Final = -(2**62)
"""The bound of starts that are derived from absurd latencies (µs)."""

_KIND_CODES: Final = {id(kind): code for code, kind in enumerate(KINDS)}
"""By identity, because enumerations hash in Python."""

_DELEGATION: Final = EDGE_KINDS.index(EdgeKind.DELEGATION)


def family(step: StepFacts) -> list[tuple[StepFacts, int]]:
    """The step, and the steps in its answer at any depth, each with the place here of the call that carried it."""
    found = [(step, NONE)]
    for place, (outer, _) in enumerate(found):
        found += [(inner, place) for inner in outer.answer_steps]
    return found


class _Facts:
    """A fact that not every step tells: the rows that tell it, with its values."""

    def __init__(self, unknown: int, typecode: str) -> None:
        self._unknown = unknown
        self._rows, self._values = array("i"), array(typecode)

    def add(self, row: int, value: int) -> None:
        """Adds the fact of a row."""
        self._rows.append(row)
        self._values.append(value)

    def column(self, rows: int) -> "np.ndarray[tuple[int], np.dtype[Any]]":
        """The fact by row."""
        column = np.full(rows, self._unknown, self._values.typecode)
        column[np.frombuffer(self._rows, np.int32)] = np.frombuffer(self._values, column.dtype)
        return column


class Reading:
    """The columns of the reports read so far: a row for each report of a step, also of one that was read before.

    `carriers`: by row of a step that came in an answer, the row of the call that carried it.
    """

    def __init__(self) -> None:
        self.carriers: dict[int, int] = {}
        self._numbers: defaultdict[str, dict[str, int]] = defaultdict(dict)
        """By trace and step id, the number of the step."""
        self._step_ids: list[str] = []
        self._traces, self._trace_names = array("i"), Names()
        self._names, self._texts = Names(), RequestTexts()
        self._empty = self._names.code("")
        self._known_sources: dict[tuple[str, bool, bool, bool], int] = {}
        self._sources: list[tuple[Attestation, ...]] = []
        self._step, self._parent, self._source = array("i"), array("i"), array("i")
        self._kind, self._latency_ms, self._started_us = array("b"), array("d"), array("q")
        self._url, self._callee = _Facts(self._empty, "i"), _Facts(self._empty, "i")
        self._asked, self._requests = array("i"), bytearray()
        self._agent, self._edge_kind = _Facts(self._empty, "i"), _Facts(_DELEGATION, "b")
        self._known_by, self._support = _Facts(NONE, "b"), _Facts(NONE, "b")
        self._tokens, self._model = _Facts(NONE, "q"), _Facts(NO_MODEL_CALL, "i")
        self._model_tokens = _Facts(NONE, "q"), _Facts(NONE, "q"), _Facts(NONE, "q")
        self._answered = _Facts(True, "b")
        self._errors: dict[int, str] = {}
        self._retry_of: dict[int, str] = {}
        self._unknown_parents: dict[int, tuple[str, str]] = {}

    def read(self, reports: Iterable[Report]) -> None:
        """Adds the reports."""
        for step, reporter, authenticated, channel, _ in reports:
            first = len(self._step)
            self._add(step, self._source_of((reporter, True, channel is _OBSERVED, authenticated)))
            if step.answer_steps:
                relayed = self._source_of((reporter, False, False, authenticated))
                for inner, carrier in family(step)[1:]:
                    self.carriers[len(self._step)] = first + carrier
                    self._add(inner, relayed)

    def _source_of(self, attested: tuple[str, bool, bool, bool]) -> int:
        known = self._known_sources.get(attested)
        if known is None:
            known = self._known_sources[attested] = len(self._sources)
            self._sources.append((Attestation(*attested),))
        return known

    def _add(self, step: StepFacts, source: int) -> None:
        row, trace_id = len(self._step), step.trace_id
        self._step.append(self._number(trace_id, step.step_id))
        self._source.append(source)
        if parent_id := step.parent_step_id:
            known = self._numbers[trace_id].get(parent_id, UNREPORTED)
            if known == UNREPORTED:
                self._unknown_parents[row] = trace_id, parent_id
            self._parent.append(known)
        else:
            self._parent.append(NONE)
        kind, attributes = step.kind, step.additional_attributes
        self._kind.append(_KIND_CODES[id(kind)])
        self._add_times(step)
        if kind is _AGENT:
            self._add_call(row, step)
        elif kind is _TOOL:
            self._add_model(row, step, attributes)
        if (tokens := step.total_tokens) is not None and tokens >= 0:
            self._tokens.add(row, tokens)
        if attributes:
            self._add_attributes(row, attributes)
        if (failure := step.failure) is not None:
            self._errors[row] = failure[:MAX_ERROR]
            self._answered.add(row, TASK_STATE in attributes)

    def _number(self, trace_id: str, step_id: str) -> int:
        numbers = self._numbers[trace_id]
        known = numbers.get(step_id)
        if known is None:
            known = numbers[step_id] = len(self._step_ids)
            self._step_ids.append(step_id)
            self._traces.append(self._trace_names.code(trace_id))
        return known

    def _add_call(self, row: int, step: StepFacts) -> None:
        call = step.agent_call
        if call is None:
            return
        self._url.add(row, self._names.code(call.agent_url))
        self._callee.add(row, self._names.code(call.agent_name))
        if (asked := request_digest(call)) is not None:
            self._asked.append(row)
            self._requests += asked
            self._texts.add(asked, step)

    def _add_attributes(self, row: int, attributes: Mapping[str, str]) -> None:
        if agent := _agent_name(attributes):
            self._agent.add(row, self._names.code(agent))
        if EDGE_KIND in attributes:
            self._edge_kind.add(row, EDGE_KINDS.index(edge_kind_of(attributes)))
        if (known_by := known_by_of(attributes)) is not None:
            self._known_by.add(row, SOURCES.index(known_by))
        if (support := support_of(attributes)) is not None:
            self._support.add(row, SUPPORTS.index(support))
        if again := attributes.get(RETRY_OF):
            self._retry_of[row] = again

    def _add_times(self, step: StepFacts) -> None:
        latency, started = step.latency_ms, step.start_time
        self._latency_ms.append(_UNKNOWN_MS if latency is None else latency)
        if started is not None:
            self._started_us.append((as_utc(started) - _EPOCH) // _MICROSECOND)
        elif step.end_time is None or step.latency is None:
            self._started_us.append(NEVER)
        else:
            began = (as_utc(step.end_time) - _EPOCH) // _MICROSECOND - 1000 * step.latency
            self._started_us.append(max(began, _EARLIEST))

    def _add_model(self, row: int, step: StepFacts, attributes: Mapping[str, str]) -> None:
        use = use_in(step, attributes)
        if use is None:
            return
        self._model.add(row, NONE if use.model is None else self._names.code(use.model))
        for column, tokens in zip(self._model_tokens, (use.tokens, use.input_tokens, use.output_tokens), strict=True):
            if tokens is not None:
                column.add(row, tokens)

    def steps(self) -> Steps:
        """The reports read, a row for each."""
        parent_ids: dict[int, str] = {}
        for row, (trace_id, parent_id) in self._unknown_parents.items():
            self._parent[row] = self._numbers[trace_id].get(parent_id, UNREPORTED)
            if self._parent[row] == UNREPORTED:
                parent_ids[row] = parent_id
        rows = len(self._step)
        failed = np.zeros(rows, np.bool_)
        failed[np.fromiter(self._errors, np.int64, len(self._errors))] = True
        request, digests = _ranked(self._requests, np.frombuffer(self._asked, np.int32), rows)
        model_tokens, model_input, model_output = (each.column(rows) for each in self._model_tokens)
        columns = StepColumns(
            step=np.frombuffer(self._step, np.int32),
            parent=np.frombuffer(self._parent, np.int32),
            kind=np.frombuffer(self._kind, np.int8),
            agent=self._agent.column(rows),
            callee_url=self._url.column(rows),
            callee_name=self._callee.column(rows),
            request=request,
            edge_kind=self._edge_kind.column(rows),
            known_by=self._known_by.column(rows),
            support=self._support.column(rows),
            failed=failed,
            answered=self._answered.column(rows).astype(np.bool_),
            latency_ms=np.frombuffer(self._latency_ms, np.float64),
            started_us=np.frombuffer(self._started_us, np.int64),
            tokens=self._tokens.column(rows),
            model=self._model.column(rows),
            model_tokens=model_tokens,
            model_input=model_input,
            model_output=model_output,
            source=np.frombuffer(self._source, np.int32),
        )
        return Steps(
            columns,
            self._names,
            self._step_ids,
            self._traces,
            self._trace_names.texts,
            self._sources,
            digests,
            parent_ids,
            self._errors,
            self._retry_of,
        )

    def texts(self) -> dict[str, str]:
        """A sample of the texts of requests, by request digest."""
        return {digest.hex(): text for digest, text in self._texts.sample().items()}


def _agent_name(attributes: Mapping[str, str]) -> str:
    return next((attributes[name] for name in AGENT_NAME_ATTRIBUTES if attributes.get(name)), "")


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
