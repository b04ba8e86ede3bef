"""The exchange by calls: the seats of a team call each other through the proxy, along their topology."""

import asyncio
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from cachetools import LRUCache
from pydantic import BaseModel, ConfigDict

from concord.assessment.faults import Cut, Delay, OnSeat, PlantedFault, Swap, Truncate
from concord.assessment.task_spec import Exchange
from concord.storage import AgentRegistry, AssessmentStore
from concord.suite import SuiteTask
from concord.trust.proxy_urls import observed_peers, peers_scope
from concord.trust.tokens import Claims
from concord.wire.roster import RosterEntry
from concord_gateway.rounds.exchange import garbled
from concord_gateway.rounds.texts import receipts_text

# The wire between seats that call each other: it carries each call as it is, but for planted faults. No I/O.
#
# A call is two messages: the caller's request, and the callee's answer.

_OWN: Final = "history"
"""The field of a task with the messages that its caller sent."""


@dataclass(frozen=True, slots=True)
class CallWire:
    """What becomes of the messages between the seats of one trial."""

    faults: Sequence[PlantedFault] = ()

    def addressee(self, sender: str, receiver: str) -> str:
        """The seat at which a request to the receiver arrives. Of that seat, it is the receiver."""
        for fault in self.faults:
            if isinstance(fault, Swap) and fault.concerns(sender, receiver):
                return fault.instead if receiver == fault.receiver else fault.receiver
        return receiver

    def is_cut(self, sender: str, receiver: str) -> bool:
        """Whether two seats have no connection."""
        return any({sender, receiver} == set(fault.edge) for fault in self.faults if isinstance(fault, Cut))

    def is_silenced(self, seat: str) -> bool:
        """Whether nothing that a seat says arrives anywhere."""
        return any(fault.seat == seat for fault in self.faults if isinstance(fault, OnSeat))

    def is_lost(self, sender: str, receiver: str) -> bool:
        """Whether a message never arrives."""
        return self.is_silenced(sender) or self._has("drop", sender, receiver)

    def is_doubled(self, sender: str, receiver: str) -> bool:
        """Whether a request arrives twice. Of an answer, a caller takes the first."""
        return self._has("duplicate", sender, receiver)

    def delay_s(self, sender: str, receiver: str) -> float:
        """How much later a message arrives."""
        delays = (fault for fault in self._on(sender, receiver) if isinstance(fault, Delay))
        return sum(fault.seconds or 0.0 for fault in delays)

    def changes(self, sender: str, receiver: str) -> bool:
        """Whether messages arrive changed."""
        return any(fault.kind in {"truncate", "garble"} for fault in self._on(sender, receiver))

    def parts(self, sender: str, receiver: str, parts: Sequence[Any]) -> list[Any]:
        """The parts of a message as they arrive; none of one that is nested too deep."""
        arriving = _Arriving(list(self._on(sender, receiver)))
        try:
            return [each for part in parts for each in arriving.part(part)]
        except RecursionError:
            return []

    def answer(self, sender: str, receiver: str, document: dict[str, Any]) -> dict[str, Any]:
        """A document of an answer, with the parts of all messages and artifacts in it as they arrive.

        Empty if it is nested too deep.
        """
        try:
            found: dict[str, Any] = self._answer(sender, receiver, document)
        except RecursionError:
            return {}
        return found

    def _answer(self, sender: str, receiver: str, document: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(document, list):
            return [self._answer(sender, receiver, each) for each in document]
        if not isinstance(document, Mapping):
            return document
        return {
            key: self.parts(sender, receiver, value)
            if key == "parts" and isinstance(value, list)
            else value
            if key == _OWN
            else self._answer(sender, receiver, value)
            for key, value in document.items()
        }

    def _has(self, kind: str, sender: str, receiver: str) -> bool:
        return any(fault.kind == kind for fault in self._on(sender, receiver))

    def _on(self, sender: str, receiver: str) -> Iterator[PlantedFault]:
        for fault in self.faults:
            if not isinstance(fault, OnSeat | Cut) and fault.concerns(sender, receiver):
                yield fault


class _Arriving:
    """One message on its way. Its texts are cut and garbled as if they were one."""

    def __init__(self, faults: Sequence[PlantedFault]) -> None:
        limits = [fault.characters for fault in faults if isinstance(fault, Truncate)]
        self._left: int | None = min(limits, default=None)
        self._garbles = any(fault.kind == "garble" for fault in faults)

    def part(self, part: Any) -> Iterator[Any]:  # noqa: ANN401 - JSON
        if not isinstance(part, Mapping):
            yield part
        elif isinstance(text := part.get("text"), str):
            yield {**part, "text": self._text(text)}
        elif self._left is None:
            yield {**part, "data": self._data(part["data"])} if "data" in part else part
        else:
            self._left -= len(json.dumps(part.get("data")))
            if self._left >= 0:
                yield part
            self._left = max(0, self._left)

    def _text(self, text: str) -> str:
        if self._left is not None:
            text = text[: self._left]
            self._left -= len(text)
        if self._garbles and (changed := garbled(text)) != text:
            self._garbles = False
            return changed
        return text

    def _data(self, data: Any) -> Any:  # noqa: ANN401 - JSON
        if isinstance(data, str):
            return self._text(data)
        if isinstance(data, list):
            return [self._data(each) for each in data]
        return {key: self._data(each) for key, each in data.items()} if isinstance(data, Mapping) else data


# The channel of a trial: the permitted calls between seats, and their contexts. The proxy enforces it.

UNSUPPORTED: Final = -32004
"""A2A's code for an operation that is not supported."""

NOT_FOUND: Final = -32001
"""A2A's code for a task that does not exist."""


class SeatPlace(BaseModel):
    """A seat of a trial: its agent's address, its neighbours, and the A2A context of its brief."""

    model_config = ConfigDict(frozen=True)

    entry: RosterEntry
    context_id: str
    neighbours: tuple[str, ...]


class TrialChannel(BaseModel):
    """What the proxy needs to know of a trial whose task a family generated."""

    model_config = ConfigDict(frozen=True)

    exchange: Exchange
    seats: list[SeatPlace]
    silent: bool = False
    """Whether no call is carried (the control team without a channel)."""
    alone: bool = False
    """Whether its one seat is the starting agent without its peers, which it may know from other trials."""
    is_open: bool = False
    """Whether every seat has its brief, so that calls may begin."""
    faults: tuple[PlantedFault, ...] = ()
    """Those of the network between the seats."""

    @cached_property
    def wire(self) -> CallWire:
        """The wire between the seats."""
        return CallWire(self.faults)

    @cached_property
    def places(self) -> Mapping[str, SeatPlace]:
        """The seats by name."""
        return {place.entry.id: place for place in self.seats}

    def addressed(self, callee: str, rest: str) -> tuple[str, str]:
        """The name and the rest of a path `callee/rest`, in which a name such as agent/1 may itself hold a slash."""
        head, _, tail = rest.partition("/")
        longer = f"{callee}/{head}"
        return (longer, tail) if callee not in self.places and longer in self.places else (callee, rest)

    def refusal(self, caller: str, callee: str) -> str | None:
        """Why the proxy does not carry a message from one seat to another; None if it does."""
        if callee not in self.places:
            return f"nobody is called {callee[:64]!r}"
        if self.exchange is not Exchange.CALLS:
            return "in this trial, seats send messages in their replies to the gateway, and call nobody"
        if caller not in self.places or callee not in self.places[caller].neighbours:
            return f"{callee} is not a neighbour of {caller}"
        if self.silent:
            return "no call is carried in this trial"
        if not self.is_open:
            return "not every seat has its brief: wait for the question"
        return None


_MAX_TRIALS: Final = 256


class Channels:
    """Stores the channels of trials, and gives each seat the list of its peers.

    `proxy_base` is the proxy's URL for participants, None if they reach each other directly and unobserved.
    """

    def __init__(self, assessments: AssessmentStore, registry: AgentRegistry, proxy_base: str | None) -> None:
        self._assessments = assessments
        self._registry = registry
        self.proxy_base = proxy_base
        self._final: LRUCache[str, TrialChannel | None] = LRUCache(_MAX_TRIALS)
        """By trace id, what changes no more: every call needs it."""

    async def announce(self, trace_id: str, channel: TrialChannel) -> None:
        """Names each seat its peers: itself and its neighbours. Raises StorageUnavailableError."""
        await asyncio.gather(
            *(
                self._registry.register(
                    peers_scope(trace_id, place.entry.id),
                    self._addresses(channel.places[name].entry for name in (place.entry.id, *place.neighbours)),
                )
                for place in channel.seats
            )
        )

    async def save(self, assessment_id: str, trace_id: str, channel: TrialChannel) -> None:
        """Stores a trial's channel. Raises StorageUnavailableError."""
        await self._assessments.save(assessment_id, _document(trace_id), channel.model_dump_json())

    async def of(self, claims: Claims) -> TrialChannel | None:
        """The channel of the token's trial, None if its task has no seats. Raises StorageUnavailableError.

        A trial's channel is stored before its tokens are issued, so a trial without one gets none later.
        """
        if claims.trace_id in self._final:
            return self._final[claims.trace_id]
        document = await self._assessments.load(claims.assessment_id, _document(claims.trace_id))
        channel = None if document is None else TrialChannel.model_validate_json(document)
        if channel is None or channel.is_open:
            self._final[claims.trace_id] = channel
        return channel

    def _addresses(self, entries: Iterable[RosterEntry]) -> list[RosterEntry]:
        return list(entries) if self.proxy_base is None else observed_peers(entries, self.proxy_base)


def _document(trace_id: str) -> str:
    return f"channel:{trace_id}"


# The texts that a seat gets in a trial by calls: its brief, and then the question.


def brief_text(task: SuiteTask, seat: str, addresses: Mapping[str, str]) -> str:
    """The first message to a seat. `addresses`: the URL of each neighbour at the proxy, for this seat alone."""
    sections = [
        f"You are {seat}, one of {len(task.seats)} seats of a team. The seats call each other over A2A.",
        f"What only you know:\n{task.briefs[seat]}",
    ]
    if addresses:
        lines = "\n".join(f"{name}: {url}" for name, url in addresses.items())
        sections += [
            f"You may call these seats, at addresses that are for you alone:\n{lines}",
            "A call is an A2A message, and its answer comes to you alone. Say in a call who you are. Calls of other "
            "seats come in this conversation: answer them with what they need.",
        ]
    sections.append('The question comes with the next message. Call nobody before, and reply with "ready" now.')
    return "\n\n".join(sections)


def question_text(task: SuiteTask, seat: str) -> str:
    """The second message to a seat, in the context of its brief."""
    must = "You have to answer." if seat in task.answerers else "You need not answer yourself."
    return "\n\n".join(
        [
            f"The question to the team:\n{task.question}\n{must}",
            f"You are {seat}. You may call: {', '.join(task.neighbours[seat]) or 'nobody'}. Call whom you want to, and "
            "then reply to this message. Your reply ends your turn.",
            receipts_text(task.message_limit),
            'Reply with one JSON object and nothing else: {"answer": ...}. "answer" is null if you have none.',
        ]
    )
