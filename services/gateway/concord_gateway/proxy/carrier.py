"""The carrier: forwards an authorised request to its callee, and the answer to the caller."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Final

from starlette.types import Message, Send

from concord.trace.attributes import MAX_UNQUOTED, MAX_WHOLE
from concord.trace.timed_steps import MAX_QUOTED
from concord.trace.vocabulary import unquoted_words
from concord.trust.tokens import Claims
from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry
from concord_gateway.assignments import Assignments
from concord_gateway.calls.channel import Channel
from concord_gateway.calls.wire import CallWire
from concord_gateway.instruments import Instruments
from concord_gateway.proxy.byte_budget import BudgetExhaustedError, ByteBudget, Reservation
from concord_gateway.proxy.call_recorder import CallRecorder, RequestTexts
from concord_gateway.proxy.callees import UnusableCardError, rewritten
from concord_gateway.proxy.relay import (
    AnswerOverBudgetError,
    CallerStalledError,
    OnDocument,
    Relay,
    Rewrite,
    UncarriedAnswerError,
    named,
    to_callee,
)
from concord_gateway.proxy.rpc_answer import CallAnswer
from concord_gateway.proxy.rpc_request import RpcRequest
from concord_gateway.proxy.time_limits import ANSWER_IS_LATE, LATE
from concord_gateway.proxy.upstream import AnswerTimeoutError, Header, UnreachableError, Upstream

NOT_A2A: Final = "no answer of A2A: neither a task nor a message for this request"

RETRY_LATER: Final[Mapping[str, str]] = {"retry-after": "1"}


class Refusal(Exception):  # noqa: N818 - an answer, not an error of ours
    """The proxy's own error response. Its text never contains a token or an address."""

    def __init__(self, status: int, reason: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.headers = headers or {}


class BrokenOffError(Exception):
    """The callee's answer ended early, after a part of it was sent to the caller: the connection must be closed."""


@dataclass(frozen=True, slots=True)
class AuthorisedRequest:
    """A request that passed authorisation. The token's claims identify the caller."""

    claims: Claims
    ends_at: float
    """When the token expires, by the clock of the event loop."""
    token: str
    callee: RosterEntry
    proxy_url: str
    """The callee's URL at the proxy, for this caller."""
    headers: Sequence[Header]
    rest: str = ""
    """The path below the callee's URL."""
    channel: Channel | None = None
    """The channel of a trial with seats."""

    @property
    def wire(self) -> CallWire:
        """The wire between caller and callee."""
        return CallWire() if self.channel is None else self.channel.wire

    @property
    def is_doubled(self) -> bool:
        """Whether it arrives twice."""
        caller = self.claims.agent_id
        return self.wire.is_doubled(caller, self.wire.addressee(caller, self.callee.id))


Forward = Callable[[Assignment | None, OnDocument], Awaitable[str | None]]
"""Relays the request with the callee's assignment, and passes each document of the answer to the callback."""


class Carrier:
    """Carries requests. A message is a call and is recorded as an observed step; other requests are not recorded."""

    def __init__(
        self,
        upstream: Upstream,
        assignments: Assignments,
        instruments: Instruments,
        calls: CallRecorder,
        budget: ByteBudget,
    ) -> None:
        self.calls = calls
        self.budget = budget
        self._upstream = upstream
        self._assignments = assignments
        self._instruments = instruments

    async def carry(self, request: AuthorisedRequest, url: str, rpc: RpcRequest, held: Reservation, send: Send) -> None:
        """Forwards a request to its callee at `url`, and the answer to the caller.

        `held` is the byte reservation for the request's body. Raises Refusal, BrokenOffError, StorageUnavailableError.
        """
        forward = partial(self._forward, request, url, rpc, held, send)
        with self._instruments.under_way.track_inprogress():
            if rpc.message is None:
                await self._pass(request, forward)
                return
            if request.is_doubled:
                with suppress(Refusal, BrokenOffError):
                    copy = replace(rpc)
                    await self._call(request, copy, partial(self._forward, request, url, copy, held, _nobody))
            await self._call(request, rpc, forward)

    async def _call(self, request: AuthorisedRequest, rpc: RpcRequest, forward: Forward) -> None:
        """Forwards a message, which is a call."""
        claims, callee = request.claims, request.callee
        token = await self._assignments.token(replace(claims, agent_id=callee.id))
        wanted = rpc.wanted_step_id(claims.trace_id, named(request.headers))
        between_seats = request.channel is not None
        answer = CallAnswer(rpc.id, MAX_WHOLE if between_seats else MAX_QUOTED)
        texts = texts_of(rpc, between_seats=between_seats)
        call = self.calls.begin(claims, callee, answer, wanted, texts, between_seats=between_seats)
        step_id = call.open_call.step_id
        own = self._assignments.own(claims.assessment_id, claims.trace_id, step_id)
        try:
            theirs = own.for_call(step_id, callee.id, token)
            with self.calls.traced(call):
                fault = await forward(theirs, call.answer.take)
            if call.answer.error is None:
                call.error = fault or (None if call.answer.known else NOT_A2A)
        except asyncio.CancelledError:
            call.error = "cancelled by the caller"
            raise
        except (Refusal, BrokenOffError) as error:
            call.error = str(error)
            call.refused = isinstance(error.__cause__, UncarriedAnswerError | BudgetExhaustedError)
            raise
        finally:
            self.calls.finish(call)

    async def _pass(self, request: AuthorisedRequest, forward: Forward) -> None:
        """Forwards a request other than a message. Its answer may report the end of a call whose caller left."""
        trace_id, callee_id = request.claims.trace_id, request.callee.id
        seen = CallAnswer()

        def follow(document: object) -> None:
            seen.take(document)
            self.calls.follow(trace_id, callee_id, seen.task_id, document)

        await forward(None, follow)

    async def _forward(
        self,
        request: AuthorisedRequest,
        url: str,
        rpc: RpcRequest,
        held: Reservation,
        send: Send,
        assignment: Assignment | None,
        on_document: OnDocument,
    ) -> str | None:
        """Relays a request with the callee's assignment. Returns as `Relay.run` does."""
        context = None if assignment is None else assignment.traceparent
        on_the_way = _OnTheWay(request.wire, request.claims.agent_id, request.callee.id)
        rewrite = partial(_with_card, request) if rpc.asks_for_card else on_the_way.rewrite
        headers = to_callee(request.headers, request.token, context)
        body = rpc.rewritten(assignment)
        rpc.forget()
        with self.budget.of(request.claims.trace_id, request.callee.id) as answer_bytes:
            relay = Relay(self._upstream, on_the_way.sending(send), answer_bytes, self.budget.idle_s)
            try:
                held.resize(len(body))
                async with asyncio.timeout_at(request.ends_at):
                    await on_the_way.delayed()
                    fault = await relay.run(url, headers, body, on_the_way.reading(on_document), rewrite)
            except (AnswerOverBudgetError, BudgetExhaustedError) as error:
                raise _failed(relay, 503, str(error), RETRY_LATER) from error
            except CallerStalledError as error:
                raise BrokenOffError(str(error)) from error
            except (TimeoutError, AnswerTimeoutError) as error:
                raise _failed(relay, LATE, ANSWER_IS_LATE) from error
            except UncarriedAnswerError as error:
                raise (BrokenOffError(str(error)) if relay.begun else Refusal(502, str(error))) from error
            except (UnreachableError, UnusableCardError) as error:
                raise _failed(relay, 502, str(error)) from error
        if on_the_way.answer_is_lost:
            raise Refusal(LATE, ANSWER_IS_LATE)
        return fault


@dataclass(frozen=True, slots=True)
class _OnTheWay:
    """What the wire between two seats does to a call."""

    wire: CallWire
    caller: str
    callee: str
    """The seat at which the call arrives. It may not be the one that the caller named."""

    @property
    def answer_is_lost(self) -> bool:
        """Whether the caller gets nothing of the answer."""
        return self.wire.is_lost(self.callee, self.caller)

    @property
    def rewrite(self) -> Rewrite | None:
        """What changes the documents of the answer, if anything does."""
        changes = self.wire.changes(self.callee, self.caller)
        return partial(self.wire.answer, self.callee, self.caller) if changes else None

    async def delayed(self) -> None:
        """Waits as long as the request is under way."""
        if delay_s := self.wire.delay_s(self.caller, self.wire.addressee(self.caller, self.callee)):
            await asyncio.sleep(delay_s)

    def sending(self, send: Send) -> Send:
        """Sends the answer to the caller when it arrives."""
        delay_s, begun = self.wire.delay_s(self.callee, self.caller), False

        async def later(message: Message) -> None:
            nonlocal begun
            if not begun:
                begun = True
                await asyncio.sleep(delay_s)
            await send(message)

        return _nobody if self.answer_is_lost else later if delay_s else send

    def reading(self, on_document: OnDocument) -> OnDocument:
        """Reads the answer if it arrives."""
        return _unread if self.answer_is_lost else on_document


async def _nobody(_: Message) -> None:
    """Sends an answer to nobody."""


def _unread(_: object) -> None:
    """Reads no document."""


def texts_of(rpc: RpcRequest, *, between_seats: bool) -> RequestTexts:
    """What a request says, as its step holds it."""
    text, said = rpc.text[:MAX_QUOTED], rpc.said
    whole = "\n".join(said)[:MAX_WHOLE] if between_seats else ""
    return RequestTexts(text, unquoted_words(said, text, MAX_UNQUOTED), "" if whole == text else whole)


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
