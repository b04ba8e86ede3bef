"""Calls through the proxy: each is tracked from request to answer, and recorded as an observed step."""

import asyncio
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

from pydantic import JsonValue
from starlette.types import Send

from concord.agent.assignment import Assignment
from concord.assessment.roster import RosterEntry
from concord.storage import StorageUnavailableError, TraceLimits, TraceStore
from concord.trace.ids import traceparent
from concord.trace.observation import GATEWAY, MAX_WORDS, REFUSED_BY, RESPONSE_WORDS, WORDS_FIELD
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord.trace.timing import StepClock
from concord.trace.vocabulary import words_beyond
from concord.trust.redaction import redact
from concord.trust.tokens import Claims
from concord_gateway.assignments import Assignments
from concord_gateway.instruments import Instruments
from concord_gateway.proxy.bodies import Bodies, Held, NoRoomError
from concord_gateway.proxy.callees import UnusableCardError, rewritten
from concord_gateway.proxy.jsonrpc import MAX_QUOTED, AnswerReader, RpcRequest
from concord_gateway.proxy.relay import (
    CallerStalledError,
    CrowdedOutError,
    OnDocument,
    Relay,
    UncarriedAnswerError,
    named,
    to_callee,
)
from concord_gateway.proxy.upstream import Header, SilentError, UnreachableError, Upstream
from concord_gateway.recorder import Recorder
from concord_gateway.watch import WatchedCall, Watches


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    """The proxy's own error response. Its text never contains a token or an address."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


class BrokenOffError(Exception):
    """The callee's answer ended early, after a part of it was sent to the caller: the connection must be closed."""


@dataclass(slots=True)
class CarriedCall:
    """A call that the proxy carries."""

    watched: WatchedCall
    trace_id: str
    callee_url: str
    answer: AnswerReader
    request_text: str = ""
    request_words: str = ""
    """The words of the request that `request_text` does not contain."""
    error: str | None = None
    """What went wrong in transit. The callee's own error is in its answer."""
    refused: bool = False
    """Whether one of the gateway's limits caused the error."""
    kept: Held | None = None
    """The bytes held for the answer while nobody waits for the end of its task."""
    clock: StepClock = field(default_factory=StepClock)

    def release(self) -> None:
        """Returns the bytes held for the answer."""
        if self.kept is not None:
            self.kept.release()

    def step(self) -> InteractionStep:
        """The observed step: the caller is taken from its token, the callee from the roster."""
        attributes = {"agent_name": self.watched.caller}
        if self.answer.state:
            attributes |= {"task_state": self.answer.state, "response_text": self.answer.text}
        if words := self.answer.words:
            attributes[RESPONSE_WORDS] = words
        if self.refused:
            attributes[REFUSED_BY] = GATEWAY
        if (error := self.error or self.answer.error) is not None:
            attributes["error"] = redact(error)[:MAX_QUOTED]
        return InteractionStep(
            step_id=self.watched.step_id,
            trace_id=self.trace_id,
            parent_step_id=self.watched.parent_id or None,
            call_type=CallType.AGENT,
            step_action=StepAction(
                agent_invocation=AgentInvocation(
                    agent_url=self.callee_url,
                    agent_name=self.watched.callee,
                    requests=self._request() or None,
                    response_trace=self.answer.response_trace,
                )
            ),
            additional_attributes=attributes,
            **self.clock.times(),
        )

    def _request(self) -> dict[str, JsonValue]:
        told = {"text": self.request_text[:MAX_QUOTED], WORDS_FIELD: self.request_words}
        return {name: text for name, text in told.items() if text}


logger = logging.getLogger(__name__)

NOT_A2A: Final = "no answer of A2A: neither a task nor a message for this request"

RETRY_LATER: Final[Mapping[str, str]] = {"retry-after": "1"}

_MAX_LEFT: Final = 4096

_TaskKey = tuple[str, str, str]
"""Trace id, callee id, and the task id that the callee assigned."""


@dataclass(frozen=True, slots=True)
class AuthorisedRequest:
    """A request that passed authorisation. The token's claims identify the caller."""

    claims: Claims
    token: str
    callee: RosterEntry
    proxy_url: str
    """The callee's URL at the proxy, for this caller."""
    headers: Sequence[Header]


Forward = Callable[[Assignment | None, OnDocument], Awaitable[str | None]]
"""Relays the request with the callee's assignment, and passes each document of the answer to the callback."""


class Carrier:
    """Carries requests. A message is a call and is recorded as an observed step; other requests are not recorded."""

    def __init__(
        self,
        upstream: Upstream,
        traces: TraceStore,
        assignments: Assignments,
        watches: Watches,
        instruments: Instruments,
        trace_limits: TraceLimits,
        bodies: Bodies,
    ) -> None:
        self.bodies = bodies
        self._upstream = upstream
        self._traces = traces
        self._assignments = assignments
        self._watches = watches
        self._instruments = instruments
        self._trace_limits = trace_limits
        self._open: defaultdict[str, dict[str, CarriedCall]] = defaultdict(dict)
        """By trace id and step id, the accepted calls that are not yet in their traces."""
        self._left: OrderedDict[str, _TaskKey] = OrderedDict()
        """By step id, the tasks that nobody waits for: their callers left."""
        self._writing: set[asyncio.Task[None]] = set()

    async def carry(self, request: AuthorisedRequest, url: str, rpc: RpcRequest, held: Held, send: Send) -> None:
        """Forwards a request to its callee at `url`, and the answer to the caller.

        `held` is the byte reservation for the request's body. Raises Refusal, BrokenOffError, StorageUnavailableError.
        """
        forward = partial(self._forward, request, url, rpc, held, send)
        with self._instruments.under_way.track_inprogress():
            if rpc.message is None:
                await self._pass(request, forward)
            else:
                await self._call(request, rpc, forward)

    def unreached(self, claims: Claims, callee: RosterEntry, reason: str) -> None:
        """Records a call that failed before its message was sent, because the callee's card could not be fetched."""
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id)
        self._record(self._accepted(CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(), error=reason)))

    def crowded_out(self, claims: Claims, callee: RosterEntry, reason: str) -> None:
        """Records a call refused because the byte budget was exhausted. It is nobody's failure."""
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id)
        call = CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(), error=reason, refused=True)
        self._record(self._accepted(call))

    async def settle(self, trace_id: str) -> None:
        """Records every open call of a closed trial as unanswered."""
        for call in list(self._open.pop(trace_id, {}).values()):
            call.error = call.error or f"unanswered when the trial was closed, after {call.clock.elapsed_s:.1f} s"
            self._write_beside(call)
        await self.written()

    async def written(self) -> None:
        """Waits until every step so far is written or given up."""
        await asyncio.gather(*self._writing)

    async def _call(self, request: AuthorisedRequest, rpc: RpcRequest, forward: Forward) -> None:
        """Forwards a message, which is a call."""
        claims, callee = request.claims, request.callee
        token = await self._assignments.token(replace(claims, agent_id=callee.id))
        wanted = rpc.wanted_step_id(claims.trace_id, named(request.headers))
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id, wanted)
        words = words_beyond(rpc.said, rpc.text[:MAX_QUOTED], MAX_WORDS)
        call = self._accepted(
            CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(rpc.id), rpc.text[:MAX_QUOTED], words)
        )
        own = self._assignments.own(claims.assessment_id, claims.trace_id, watched.step_id)
        try:
            theirs = own.for_call(watched.step_id, callee.id, token)
            fault = await forward(theirs, call.answer.read)
            if call.answer.error is None:
                call.error = fault or (None if call.answer.known else NOT_A2A)
        except asyncio.CancelledError:
            call.error = "cancelled by the caller"
            raise
        except (Refusal, BrokenOffError) as error:
            call.error = str(error)
            call.refused = isinstance(error.__cause__, UncarriedAnswerError | NoRoomError)
            raise
        finally:
            self._leave_or_record(call)

    async def _pass(self, request: AuthorisedRequest, forward: Forward) -> None:
        """Forwards a request other than a message. Its answer may report the end of a call whose caller left."""
        trace_id, callee_id = request.claims.trace_id, request.callee.id
        seen = AnswerReader()

        def follow(document: object) -> None:
            seen.read(document)
            key = (trace_id, callee_id, seen.task_id)
            for step_id in [step_id for step_id, left in self._left.items() if left == key] if seen.task_id else ():
                self._hear(trace_id, step_id, document)

        await forward(None, follow)

    async def _forward(
        self,
        request: AuthorisedRequest,
        url: str,
        rpc: RpcRequest,
        held: Held,
        send: Send,
        assignment: Assignment | None,
        on_document: OnDocument,
    ) -> str | None:
        """Relays a request with the callee's assignment. Returns as `Relay.run` does."""
        context = None if assignment is None else traceparent(assignment.trace_id, assignment.step_id)
        rewrite = partial(_with_card, request) if rpc.asks_for_card else None
        headers = to_callee(request.headers, request.token, context)
        body = rpc.rewritten(assignment)
        rpc.forget()
        with self.bodies.of(request.claims.trace_id, request.callee.id) as held_answer:
            relay = Relay(self._upstream, send, held_answer, self.bodies.idle_s)
            try:
                held.resize(len(body))
                async with asyncio.timeout(request.claims.expires_at - time.time()):
                    return await relay.run(url, headers, body, on_document, rewrite)
            except (CrowdedOutError, NoRoomError) as error:
                raise _failed(relay, 503, str(error), RETRY_LATER) from error
            except CallerStalledError as error:
                raise BrokenOffError(str(error)) from error
            except (TimeoutError, SilentError) as error:
                raise _failed(relay, 504, "the agent did not answer in time") from error
            except (UnreachableError, UncarriedAnswerError, UnusableCardError) as error:
                raise _failed(relay, 502, str(error)) from error

    def _accepted(self, call: CarriedCall) -> CarriedCall:
        self._open[call.trace_id][call.watched.step_id] = call
        return call

    def _hear(self, trace_id: str, step_id: str, document: object) -> None:
        """Updates a call whose caller left with news of its task. The document's id belongs to another request."""
        call = self._open[trace_id].get(step_id)
        if call is None:
            del self._left[step_id]
        elif isinstance(document, dict):
            call.answer.read(document | {"id": call.answer.request_id})
            if call.answer.ended:
                del self._left[step_id]
                self._record(call)

    def _leave_or_record(self, call: CarriedCall) -> None:
        if call.error is not None or not call.answer.under_way or not self._keep(call):
            self._record(call)
            return
        step_id = call.watched.step_id
        self._left[step_id] = (call.trace_id, call.watched.callee, call.answer.task_id)
        self._watches.of(call.trace_id).leave(step_id)
        if len(self._left) > _MAX_LEFT:
            oldest, (trace_id, _, _) = self._left.popitem(last=False)
            if (forgotten := self._open[trace_id].get(oldest)) is not None:
                forgotten.error = "its end was not asked for"
                self._record(forgotten)

    def _keep(self, call: CarriedCall) -> bool:
        """Reserves bytes for an unfinished answer; returns whether that succeeded. A recorded call needs none."""
        if self._open.get(call.trace_id, {}).get(call.watched.step_id) is not call:
            return True
        call.kept = self.bodies.of(call.trace_id, call.watched.callee)
        try:
            call.kept.resize(call.answer.size)
        except NoRoomError as error:
            call.error, call.refused = str(error), True
            return False
        return True

    def _record(self, call: CarriedCall) -> None:
        """Records a call, unless its trial was closed first."""
        calls = self._open[call.trace_id]
        if calls.pop(call.watched.step_id, None) is not None:
            self._write_beside(call)
        if not calls:
            del self._open[call.trace_id]

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
        self._instruments.carried.labels(outcome="answered" if step.failure is None else "failed").inc()
        try:
            await recorder.write()
        except StorageUnavailableError as error:
            logger.error("cannot store an observed call of %s: %s", call.watched.caller, error)
        finally:
            self._watches.of(call.trace_id).end(call.watched.step_id, answered=bool(call.answer.state))


def _failed(
    relay: Relay, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Refusal | BrokenOffError:
    if relay.begun:
        return BrokenOffError("the agent broke off its answer")
    return Refusal(status, reason, headers)


def _with_card(request: AuthorisedRequest, document: dict[str, Any]) -> dict[str, Any]:
    card = document.get("result")
    if not isinstance(card, dict):
        return document
    return document | {"result": rewritten(card, request.callee.url, request.proxy_url)}
