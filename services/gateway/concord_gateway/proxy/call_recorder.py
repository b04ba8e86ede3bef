"""Carried calls: each is kept from request to answer, and recorded as an observed step."""

import asyncio
import json
import logging
from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from cachetools import LRUCache
from opentelemetry.trace import SpanKind
from pydantic import JsonValue, ValidationError

from concord.a2a.answer_reader import AnswerReader, Said, part_strings
from concord.errors import StorageUnavailableError
from concord.storage import TraceLimits, TraceStore
from concord.trace.attributes import (
    AGENT_NAME,
    GATEWAY,
    MAX_UNQUOTED,
    NOT_CARRIED,
    REFUSED_BY,
    RESPONSE_TEXT,
    TASK_STATE,
    UNQUOTED_RESPONSE_WORDS,
    whole_pieces,
)
from concord.trace.step import AgentInvocation, InteractionStep, ResponseTrace
from concord.trace.timing import MAX_QUOTED, StepClock, call_step
from concord.trace.vocabulary import MAX_READ, unquoted_words
from concord.tracing import span
from concord.trust.redaction import redact
from concord.trust.tokens import Claims
from concord.wire.assignment import TRACEABILITY_KEY
from concord.wire.roster import RosterEntry
from concord_gateway.assignments import OpenCall, OpenCalls, OwnWork
from concord_gateway.instruments import Instruments
from concord_gateway.proxy.limits import BudgetExhaustedError, ByteBudget, Reservation
from concord_gateway.recorder import Recorder
from concord_gateway.rounds.exchange import OverBudgetError

# A2A's JSON-RPC responses as the proxy reads them: how far a call has come, and what its callee answered.

_ANY: Final = object()


class CallAnswer(AnswerReader):
    """The answer to one carried call, and its words for the record.

    Ignores responses to another request than `request_id`, if that is given. Keeps `limit` characters of each text.
    """

    def __init__(self, request_id: object = _ANY, limit: int = MAX_QUOTED) -> None:
        super().__init__(limit)
        self.request_id = request_id
        self._error: str | None = None
        self._heard: list[str] = []
        self._room = MAX_READ
        self._in_band = b""

    @property
    def ended(self) -> bool:
        """Whether the call is over: an error, an answer, or a question to the caller."""
        return self._error is not None or super().ended

    @property
    def under_way(self) -> bool:
        """Whether the callee has accepted the task and not ended it."""
        return self._error is None and super().under_way

    @property
    def error(self) -> str | None:
        """The error, in the callee's words."""
        if self._error is None and self.failed:
            return f"the agent ended with {self.state}: {self.status_text}"
        return self._error

    @property
    def known(self) -> bool:
        """Whether any document so far is an A2A response: a task, a message or an error."""
        return self.state is not None or self._error is not None

    @property
    def quoted(self) -> str:
        """The beginning of the answer's text, at most `MAX_QUOTED` characters."""
        return self.text[:MAX_QUOTED]

    @property
    def whole(self) -> str:
        """The whole answer, with data and progress messages, if it is more than `quoted`; else ""."""
        spoken = self.text
        rest = dict.fromkeys(each for each in self._heard if each not in spoken)
        whole = "\n".join([spoken, *rest]) if rest else spoken
        return whole[: self._limit] if len(whole) > len(self.quoted) else ""

    @property
    def words(self) -> str:
        """The callee's words that `quoted` does not contain: from data parts and from progress messages."""
        return unquoted_words(self._heard, self.quoted, MAX_UNQUOTED)

    @property
    def size(self) -> int:
        """A lower bound on the bytes held; the size of the texts is limited."""
        return len(self._in_band)

    @property
    def response_trace(self) -> ResponseTrace | None:
        """The steps that arrived in band, None if there are none or they are malformed."""
        if not self._in_band:
            return None
        try:
            return ResponseTrace.model_validate_json(self._in_band)
        except ValidationError:
            return None

    def take(self, document: object) -> None:
        """Reads one JSON-RPC response. Unknown forms are ignored: the caller's client reports them."""
        if not isinstance(document, dict) or not self._is_mine(document):
            return
        if isinstance(error := document.get("error"), dict):
            self._error = f"JSON-RPC error {error.get('code')}: {error.get('message')}"[:MAX_QUOTED]
        if isinstance(result := document.get("result"), dict):
            self.read(result)

    def _is_mine(self, document: Mapping[str, Any]) -> bool:
        """An error may have a null id, if the server could not read the request's (JSON-RPC 2.0, section 5)."""
        answered = document.get("id")
        return self.request_id is _ANY or answered == self.request_id or (answered is None and "error" in document)

    def _said(self, parts: object) -> Said:
        said = super()._said(parts)
        for text in part_strings(parts):
            if self._room > 0:
                self._heard.append(text[: self._room])
                self._room -= len(text)
        return said

    def _keep_metadata(self, holder: Mapping[str, Any]) -> None:
        metadata = holder.get("metadata")
        if isinstance(metadata, dict) and TRACEABILITY_KEY in metadata:
            # Stored as text: a call may be open for long, and the parsed form takes many times the memory.
            self._in_band = _written(metadata[TRACEABILITY_KEY])


def _written(value: object) -> bytes:
    try:
        return json.dumps(value, separators=(",", ":")).encode()
    except RecursionError:
        return b""


# The recording of calls.

logger = logging.getLogger(__name__)

_MAX_LEFT: Final = 4096
_MAX_TRIALS: Final = 256

_TaskKey = tuple[str, str, str]
"""Trace id or caller id, callee id, and the task id that the callee assigned."""


SentTexts = dict[str, JsonValue]
"""What a request says, as the step of its call holds it."""


@dataclass(slots=True)
class CarriedCall:
    """A call that the proxy carries."""

    open_call: OpenCall
    trace_id: str
    callee_url: str
    answer: CallAnswer
    request: SentTexts | None = None
    between_seats: bool = False
    """Whether the step holds the whole answer."""
    error: str | None = None
    """An error in transit. An error of the callee is in its answer."""
    refused: bool = False
    """Whether one of the gateway's limits caused the error."""
    not_carried: bool = False
    """Whether the callee got nothing of it."""
    kept: Reservation | None = None
    """The bytes held for the answer of a call that its caller left."""
    clock: StepClock = field(default_factory=StepClock)

    def release(self) -> None:
        """Returns the bytes held for the answer."""
        if self.kept is not None:
            self.kept.release()

    def step(self) -> InteractionStep:
        """The observed step: the caller is taken from its token, the callee from the roster."""
        attributes = {AGENT_NAME: self.open_call.caller}
        if self.answer.state:
            attributes |= {TASK_STATE: self.answer.state.value, RESPONSE_TEXT: self.answer.quoted}
        if words := self.answer.words:
            attributes[UNQUOTED_RESPONSE_WORDS] = words
        if self.between_seats:
            attributes |= whole_pieces(self.answer.whole)
        if self.refused:
            attributes[REFUSED_BY] = GATEWAY
        if self.not_carried:
            attributes[NOT_CARRIED] = GATEWAY
        if (error := self.error or self.answer.error) is not None:
            attributes["error"] = redact(error)[:MAX_QUOTED]
        call = AgentInvocation(
            agent_url=self.callee_url,
            agent_name=self.open_call.callee,
            requests=self.request or None,
            response_trace=self.answer.response_trace,
        )
        return call_step(
            call,
            self.clock,
            step_id=self.open_call.step_id,
            trace_id=self.trace_id,
            parent_step_id=self.open_call.parent_id or None,
            attributes=attributes,
        )


class CallRecorder:
    """Keeps every carried call until its end, and then writes it to its trace.

    A caller may leave before its callee's task has ended. Its call then stays open until a later request shows the end
    of the task, or until the trial is closed.
    """

    def __init__(
        self,
        traces: TraceStore,
        trace_limits: TraceLimits,
        open_calls: OpenCalls,
        instruments: Instruments,
        budget: ByteBudget,
    ) -> None:
        self._traces = traces
        self._trace_limits = trace_limits
        self._open_calls = open_calls
        self._instruments = instruments
        self._budget = budget
        self._unrecorded: defaultdict[str, dict[str, CarriedCall]] = defaultdict(dict)
        """By trace id and step id, the calls that are not yet in their traces."""
        self._tasks: LRUCache[str, set[_TaskKey]] = LRUCache(_MAX_TRIALS)
        """By trace id, the tasks between seats that callees gave, each with its caller and callee."""
        self._left: OrderedDict[str, _TaskKey] = OrderedDict()
        """The callees' tasks whose callers left, by step id."""
        self._writing: set[asyncio.Task[None]] = set()

    def begin(
        self,
        claims: Claims,
        callee: RosterEntry,
        answer: CallAnswer,
        wanted_id: str = "",
        request: SentTexts | None = None,
        *,
        between_seats: bool = False,
    ) -> CarriedCall:
        """Begins a call by the token's agent. It takes the step id `wanted_id` unless another call has that.

        `between_seats` keeps the whole of its answer.
        """
        open_call = self._open_calls.of(claims.trace_id).begin(claims.agent_id, callee.id, wanted_id)
        call = CarriedCall(open_call, claims.trace_id, callee.url, answer, request, between_seats)
        self._unrecorded[call.trace_id][open_call.step_id] = call
        return call

    @contextmanager
    def traced(self, call: CarriedCall) -> Iterator[None]:
        """A span for the time in which a call is carried, below the span of its trial."""
        if (parent := self._open_calls.of(call.trace_id).parent) is None:
            yield
            return
        agents = {"concord.caller": call.open_call.caller, "concord.callee": call.open_call.callee}
        with span("call", agents, parent=parent, kind=SpanKind.CLIENT):
            yield

    def record_unsent(
        self,
        claims: Claims,
        callee: RosterEntry,
        reason: str,
        request: SentTexts | None = None,
        *,
        refused: bool = False,
    ) -> None:
        """Records a call that failed before its message was sent. `refused`: by one of the gateway's limits."""
        call = self.begin(claims, callee, CallAnswer(), request=request)
        call.error, call.refused, call.not_carried = reason, refused, True
        self._record(call)

    def has_task(self, claims: Claims, callee_id: str, task_id: str) -> bool:
        """Whether a callee gave the token's agent this task, in a call that this gateway carried in the trial."""
        named = (claims.agent_id, callee_id, task_id)
        return named in self._tasks.get(claims.trace_id, ()) or self.is_open_task(claims, callee_id, task_id)

    def is_open_task(self, claims: Claims, callee_id: str, task_id: str, *, left: bool = False) -> bool:
        """Whether the task belongs to an open call of the token's agent; `left`: to one that its caller left, so that
        later answers about the task are recorded."""
        named = (claims.agent_id, callee_id, task_id)
        return any(
            _task_of(call) == named and (step_id in self._left or not left)
            for step_id, call in self._unrecorded.get(claims.trace_id, {}).items()
        )

    def finish(self, call: CarriedCall) -> None:
        """Records a call whose request was answered or failed, unless the callee's task goes on."""
        if call.between_seats and call.answer.task_id:
            self._tasks.setdefault(call.trace_id, set()).add(_task_of(call))
        if call.error is not None or not call.answer.under_way or not self._keep(call):
            self._record(call)
            return
        step_id = call.open_call.step_id
        self._left[step_id] = (call.trace_id, call.open_call.callee, call.answer.task_id)
        self._open_calls.of(call.trace_id).leave(step_id)
        if len(self._left) > _MAX_LEFT:
            oldest, (trace_id, _, _) = self._left.popitem(last=False)
            if (forgotten := self._unrecorded[trace_id].get(oldest)) is not None:
                forgotten.error = "its end was not asked for"
                self._record(forgotten)

    def work(self, trace_id: str) -> OwnWork:
        """The gateway's own work for a trial's assessment."""
        return self._open_calls.of(trace_id).work

    def lose(self, trace_id: str, error: StorageUnavailableError) -> None:
        """Records that a call was lost because storage was away. Its trial is then lost too."""
        trial_calls = self._open_calls.of(trace_id)
        trial_calls.lost = trial_calls.lost or error

    def follow(self, trace_id: str, callee_id: str, task_id: str, document: object) -> None:
        """Updates the calls whose callers left with news of their task, and records those that ended."""
        key = (trace_id, callee_id, task_id)
        for step_id in [step_id for step_id, left in self._left.items() if left == key] if task_id else ():
            call = self._unrecorded[trace_id].get(step_id)
            if call is None:
                del self._left[step_id]
            elif isinstance(document, dict):
                # The document answers another request, and has that request's id.
                call.answer.take(document | {"id": call.answer.request_id})
                if call.answer.ended:
                    del self._left[step_id]
                    self._record(call)

    async def settle(self, trace_id: str) -> None:
        """Records every open call of a closed trial as unanswered."""
        for call in list(self._unrecorded.pop(trace_id, {}).values()):
            call.error = call.error or f"unanswered when the trial was closed, after {call.clock.elapsed_s:.1f} s"
            self._write_beside(call)
        await self.written()

    async def written(self) -> None:
        """Waits until every step so far is written or given up."""
        await asyncio.gather(*self._writing)

    def _keep(self, call: CarriedCall) -> bool:
        """Reserves bytes for an unfinished answer; returns whether that succeeded. A recorded call needs none."""
        if self._unrecorded.get(call.trace_id, {}).get(call.open_call.step_id) is not call:
            return True
        call.kept = self._budget.of(call.trace_id, call.open_call.callee)
        try:
            call.kept.resize(call.answer.size)
        except BudgetExhaustedError as error:
            call.error, call.refused = str(error), True
            return False
        return True

    def _record(self, call: CarriedCall) -> None:
        """Records a call, unless its trial was closed first."""
        calls = self._unrecorded[call.trace_id]
        if calls.pop(call.open_call.step_id, None) is not None:
            self._write_beside(call)
        if not calls:
            del self._unrecorded[call.trace_id]

    def _write_beside(self, call: CarriedCall) -> None:
        """Records a call in the background: the relay does not wait for storage."""
        call.clock.stop()
        call.release()
        writing = asyncio.create_task(self._write(call))
        self._writing.add(writing)
        writing.add_done_callback(self._writing.discard)

    async def _write(self, call: CarriedCall) -> None:
        recorder = Recorder(self._traces, call.trace_id, self._trace_limits)
        recorder.add(step := call.step())
        outcome = "refused" if call.refused else "answered" if step.failure is None else "failed"
        self._instruments.carried.labels(outcome).inc()
        try:
            await recorder.write()
        except OverBudgetError as error:
            logger.warning("a call of %s is not stored: %s", call.open_call.caller, error)
            self._open_calls.of(call.trace_id).exceed(error)
        except StorageUnavailableError as error:
            self._instruments.unstored.inc()
            self.lose(call.trace_id, error)
            logger.error("cannot store an observed call of %s: %s", call.open_call.caller, error)
        finally:
            self._open_calls.of(call.trace_id).end(call.open_call.step_id, answered=bool(call.answer.state))


def _task_of(call: CarriedCall) -> _TaskKey:
    return call.open_call.caller, call.open_call.callee, call.answer.task_id
