"""The channel of a trial: the permitted calls between seats, and their contexts. The proxy enforces it."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Final

from pydantic import BaseModel, ConfigDict

from concord.assessment.faults import PlantedFault
from concord.assessment.task_spec import Exchange
from concord.storage import AgentRegistry, AssessmentStore
from concord.trust.proxy_urls import observed_peers, peers_scope
from concord.wire.roster import RosterEntry
from concord_gateway.calls.wire import CallWire

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


class Channel(BaseModel):
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


class Channels:
    """Stores the channels of trials, and gives each seat the list of its peers.

    `proxy_base` is the proxy's URL for participants, None if they reach each other directly and unobserved.
    """

    def __init__(self, assessments: AssessmentStore, registry: AgentRegistry, proxy_base: str | None) -> None:
        self._assessments = assessments
        self._registry = registry
        self.proxy_base = proxy_base

    async def announce(self, trace_id: str, channel: Channel) -> None:
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

    async def save(self, assessment_id: str, trace_id: str, channel: Channel) -> None:
        """Stores a trial's channel. Raises StorageUnavailableError."""
        await self._assessments.save(assessment_id, _document(trace_id), channel.model_dump_json())

    async def load(self, assessment_id: str, trace_id: str) -> Channel | None:
        """The channel of a trial, None if its task has no seats. Raises StorageUnavailableError."""
        document = await self._assessments.load(assessment_id, _document(trace_id))
        return None if document is None else Channel.model_validate_json(document)

    def _addresses(self, entries: Iterable[RosterEntry]) -> list[RosterEntry]:
        return list(entries) if self.proxy_base is None else observed_peers(entries, self.proxy_base)


def _document(trace_id: str) -> str:
    return f"channel:{trace_id}"
