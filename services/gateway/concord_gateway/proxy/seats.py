"""Calls between seats: what the proxy refuses of them, and into which contexts it places them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from cachetools import LRUCache

from concord.trust.tokens import Claims
from concord_gateway.calls.channel import NOT_FOUND, UNSUPPORTED, Channel, Channels
from concord_gateway.calls.wire import CallWire
from concord_gateway.proxy.call_recorder import CallRecorder
from concord_gateway.proxy.carrier import AuthorisedRequest, Refusal, texts_of
from concord_gateway.proxy.rpc_request import RpcRequest
from concord_gateway.proxy.time_limits import ANSWER_IS_LATE, LATE
from concord_gateway.proxy.upstream import CLOSED

_KEPT: Final = (
    "url",
    "preferredTransport",
    "additionalInterfaces",
    "supportedInterfaces",
    "protocolVersion",
    "defaultInputModes",
    "defaultOutputModes",
)
_MAX_TRIALS: Final = 256


@dataclass(frozen=True, slots=True)
class Fault:
    """A JSON-RPC error of the proxy's own."""

    code: int
    reason: str


class OpenChannels:
    """Looks up the channels of trials, and caches those that are final: every call needs one."""

    def __init__(self, channels: Channels) -> None:
        self._channels = channels
        self._final: LRUCache[str, Channel | None] = LRUCache(_MAX_TRIALS)

    async def of(self, claims: Claims) -> Channel | None:
        """The channel of the token's trial, None if its task has no seats. Raises StorageUnavailableError.

        A trial's channel is stored before its tokens are issued, so a trial without one gets none later.
        """
        if claims.trace_id in self._final:
            return self._final[claims.trace_id]
        channel = await self._channels.load(claims.assessment_id, claims.trace_id)
        if channel is None or channel.is_open:
            self._final[claims.trace_id] = channel
        return channel


def between_seats(request: AuthorisedRequest, rpc: RpcRequest, calls: CallRecorder) -> Fault | None:
    """Places a request between seats into the callee's context. Returns why it is refused instead, None if it is not.

    A refused message is recorded as a failed call. Requests that are neither messages nor about a task of an open call
    are refused, since their answers would be messages that nobody records. Raises Refusal for one that never arrives.
    """
    channel, claims, callee = request.channel, request.claims, request.callee
    if channel is None:
        return None
    fault = _fault(request, channel, rpc, calls)
    lost = None if fault is not None else _lost(channel.wire, claims.agent_id, callee.id)
    if fault is None and lost is None:
        rpc.place_in(channel.places[callee.id].context_id)
        addressed = channel.wire.addressee(claims.agent_id, callee.id)
        if channel.wire.changes(claims.agent_id, addressed) and isinstance(rpc.parts, list):
            rpc.replace_parts(channel.wire.parts(claims.agent_id, addressed, rpc.parts))
    elif rpc.message is not None:
        reason = fault.reason if fault is not None else str(lost)
        calls.record_unsent(claims, callee, reason, texts_of(rpc, between_seats=True))
    if lost is not None:
        raise lost
    return fault


def arriving_at(request: AuthorisedRequest) -> AuthorisedRequest:
    """The request with the seat at which the wire lets it arrive, as its callee."""
    if request.channel is None:
        return request
    name = request.channel.wire.addressee(request.claims.agent_id, request.callee.id)
    return replace(request, callee=request.channel.places[name].entry)


def _lost(wire: CallWire, caller: str, callee: str) -> Refusal | None:
    """What a caller learns whose request never arrives: no more than the network tells."""
    addressed = wire.addressee(caller, callee)
    if wire.is_cut(caller, addressed):
        return Refusal(502, CLOSED)
    return Refusal(LATE, ANSWER_IS_LATE) if wire.is_lost(caller, addressed) else None


def _fault(request: AuthorisedRequest, channel: Channel, rpc: RpcRequest, calls: CallRecorder) -> Fault | None:
    callee = request.callee.id
    addressed = channel.wire.addressee(request.claims.agent_id, callee)
    if (reason := channel.refusal(request.claims.agent_id, addressed)) is not None:
        return Fault(UNSUPPORTED, reason)
    if not rpc.asks_for_task and not rpc.sends_message:
        return Fault(UNSUPPORTED, "seats send each other messages of text and data, and nothing else")
    if rpc.asks_for_task:
        known = calls.is_open_task(request.claims, callee, rpc.task_id, left=not rpc.cancels_task)
    else:
        known = not rpc.task_id or calls.has_task(request.claims, callee, rpc.task_id)
    return None if known else Fault(NOT_FOUND, f"{callee} works on no such task for you in this trial")


def card_of_seat(card: Mapping[str, Any], seat: str) -> dict[str, Any]:
    """The card of a seat: how to reach it. It leaves out every text of its agent's own, which could carry facts."""
    capabilities = card.get("capabilities")
    streaming = isinstance(capabilities, dict) and capabilities.get("streaming") is True
    return {key: card[key] for key in _KEPT if key in card} | {
        "name": seat,
        "description": "A seat of the team.",
        "version": "1",
        "capabilities": {"streaming": streaming},
        "skills": [],
    }
