"""Carrying: a request to its callee, the answer to its caller, and the call into the trace as what the gateway saw."""

import asyncio
import logging
import time
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from starlette.types import Send

from concord.agent.assignment import Assignment
from concord.assessment.roster import RosterEntry
from concord.storage import StorageUnavailableError, TraceLimits, TraceStore
from concord.trace.ids import traceparent
from concord.trace.observation import MAX_WORDS
from concord.trace.vocabulary import words_beyond
from concord.trust.tokens import Claims
from concord_gateway.assignments import Assignments
from concord_gateway.instruments import Instruments
from concord_gateway.proxy.answers import MAX_QUOTED, AnswerReader
from concord_gateway.proxy.bodies import Bodies, Held, NoRoomError
from concord_gateway.proxy.calls import CarriedCall
from concord_gateway.proxy.cards import UnusableCardError, rewritten
from concord_gateway.proxy.exchange import (
    CallerStalledError,
    CrowdedOutError,
    Exchange,
    OnDocument,
    UncarriedAnswerError,
)
from concord_gateway.proxy.headers import Header, named, to_callee
from concord_gateway.proxy.refusal import BrokenOffError, Refusal
from concord_gateway.proxy.requests import RpcRequest
from concord_gateway.proxy.upstream import SilentError, UnreachableError, Upstream
from concord_gateway.recorder import Recorder
from concord_gateway.watch import Watches

logger = logging.getLogger(__name__)

NOT_A2A: Final = "no answer of A2A: neither a task nor a message for this request"

RETRY_LATER: Final[Mapping[str, str]] = {"retry-after": "1"}

_MAX_LEFT: Final = 4096

_TaskKey = tuple[str, str, str]
"""Trace id, callee and the id that the callee gave its task."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """A request to be carried: the caller by its token's claims, the callee, and which of its addresses to use."""

    claims: Claims
    token: str
    callee: RosterEntry
    url: str
    own_url: str
    """The proxy's address of the callee for this caller."""
    rpc: RpcRequest
    headers: Sequence[Header]
    held: Held
    """The room that the request takes."""


class Carrier:
    """Carries requests. A message is a call, and becomes an observed step; everything else passes without one."""

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
        """By trace id and step id, the calls that are not yet in their traces: from when they were accepted."""
        self._left: OrderedDict[str, _TaskKey] = OrderedDict()
        """By step id, the task for whose end nobody waits: the caller of that call left."""
        self._writing: set[asyncio.Task[None]] = set()

    async def carry(self, delivery: Delivery, send: Send) -> None:
        """Carries one request and its answer. Raises Refusal, BrokenOffError, StorageUnavailableError."""
        with self._instruments.under_way.track_inprogress():
            if delivery.rpc.message is None:
                await self._pass(delivery, send)
            else:
                await self._call(delivery, send)

    def unreached(self, claims: Claims, callee: RosterEntry, reason: str) -> None:
        """Records a call that came to nothing before its message could be sent: its callee has no card to give."""
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id)
        self._record(self._accepted(CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(), error=reason)))

    def crowded_out(self, claims: Claims, callee: RosterEntry, reason: str) -> None:
        """Records a call whose request there was no room for: nobody's failure."""
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id)
        call = CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(), error=reason, refused=True)
        self._record(self._accepted(call))

    async def settle(self, trace_id: str) -> None:
        """Puts into the trace every call that has not ended, now that the trial has: it was not answered."""
        for call in list(self._open.pop(trace_id, {}).values()):
            call.error = call.error or f"unanswered when the trial was closed, after {call.age_s:.1f} s"
            self._write_beside(call)
        await self.written()

    async def written(self) -> None:
        """Waits until every step so far is in its trace, or was given up."""
        await asyncio.gather(*self._writing)

    async def _call(self, delivery: Delivery, send: Send) -> None:
        claims, callee = delivery.claims, delivery.callee
        token = await self._assignments.token(replace(claims, agent_id=callee.id))
        wanted = delivery.rpc.wanted_step_id(claims.trace_id, named(delivery.headers))
        watched = self._watches.of(claims.trace_id).begin(claims.agent_id, callee.id, wanted)
        said = delivery.rpc
        words = words_beyond(said.said, said.text[:MAX_QUOTED], MAX_WORDS)
        call = self._accepted(
            CarriedCall(watched, claims.trace_id, callee.url, AnswerReader(said.id), said.text[:MAX_QUOTED], words)
        )
        own = self._assignments.own(claims.assessment_id, claims.trace_id, watched.step_id)
        try:
            theirs = own.for_call(watched.step_id, callee.id, token)
            fault = await self._exchange(delivery, theirs, send, call.answer.read)
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

    async def _pass(self, delivery: Delivery, send: Send) -> None:
        """Carries what is no message. It may tell how a call went that its caller left."""
        trace_id, callee_id = delivery.claims.trace_id, delivery.callee.id
        seen = AnswerReader()

        def follow(document: object) -> None:
            seen.read(document)
            key = (trace_id, callee_id, seen.task_id)
            for step_id in [step_id for step_id, left in self._left.items() if left == key] if seen.task_id else ():
                self._hear(trace_id, step_id, document)

        await self._exchange(delivery, None, send, follow)

    async def _exchange(
        self, delivery: Delivery, assignment: Assignment | None, send: Send, on_document: OnDocument
    ) -> str | None:
        with self.bodies.of(delivery.claims.trace_id, delivery.callee.id) as held:
            exchange = Exchange(self._upstream, send, held, self.bodies.idle_s)
            return await self._run(exchange, delivery, assignment, on_document)

    async def _run(
        self, exchange: Exchange, delivery: Delivery, assignment: Assignment | None, on_document: OnDocument
    ) -> str | None:
        context = None if assignment is None else traceparent(assignment.trace_id, assignment.step_id)
        rewrite = partial(_with_card, delivery) if delivery.rpc.asks_for_card else None
        headers = to_callee(delivery.headers, delivery.token, context)
        body = delivery.rpc.rewritten(assignment)
        delivery.rpc.forget()
        try:
            delivery.held.resize(len(body))
            async with asyncio.timeout(delivery.claims.expires_at - time.time()):
                return await exchange.run(delivery.url, headers, body, on_document, rewrite)
        except (CrowdedOutError, NoRoomError) as error:
            raise _failed(exchange, 503, str(error), RETRY_LATER) from error
        except CallerStalledError as error:
            raise BrokenOffError(str(error)) from error
        except (TimeoutError, SilentError) as error:
            raise _failed(exchange, 504, "the agent did not answer in time") from error
        except (UnreachableError, UncarriedAnswerError, UnusableCardError) as error:
            raise _failed(exchange, 502, str(error)) from error

    def _accepted(self, call: CarriedCall) -> CarriedCall:
        self._open[call.trace_id][call.watched.step_id] = call
        return call

    def _hear(self, trace_id: str, step_id: str, document: object) -> None:
        """Tells a call that its caller left what became of its task. The answer is to whoever asked for that."""
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
        """Whether there is room for what is known of a call until its task ends. What is in the trace takes none."""
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
        """Writes the call's step, unless the trial was closed before it ended."""
        calls = self._open[call.trace_id]
        if calls.pop(call.watched.step_id, None) is not None:
            self._write_beside(call)
        if not calls:
            del self._open[call.trace_id]

    def _write_beside(self, call: CarriedCall) -> None:
        """Writes the call's step beside the exchange, which has not to wait for it."""
        call.stop()
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
            logger.error("an observed call of %s was lost: %s", call.watched.caller, error)
        finally:
            self._watches.of(call.trace_id).end(call.watched.step_id, answered=bool(call.answer.state))


def _failed(
    exchange: Exchange, status: int, reason: str, headers: Mapping[str, str] | None = None
) -> Refusal | BrokenOffError:
    if exchange.begun:
        return BrokenOffError("the agent broke off its answer")
    return Refusal(status, reason, headers)


def _with_card(delivery: Delivery, document: dict[str, Any]) -> dict[str, Any]:
    card = document.get("result")
    if not isinstance(card, dict):
        return document
    return document | {"result": rewritten(card, delivery.callee.url, delivery.own_url)}
