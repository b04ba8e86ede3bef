"""The participants: how a run reaches and observes them, and how it closes a trial to them."""

from dataclasses import dataclass

from concord.a2a.client import NO_CREDENTIALS
from concord.storage import ClosedTrace, TraceStore
from concord.trust.closed_trials import ClosedTrials
from concord.trust.credentials import Credentials
from concord.trust.proxy_urls import observed_peers
from concord.trust.urls import PeerUrls
from concord.wire.roster import RosterEntry
from concord_gateway.assignments import Assignments
from concord_gateway.open_calls import OpenCalls
from concord_gateway.proxy import Carrier


@dataclass(frozen=True, slots=True)
class Participants:
    """`proxy_base` is the proxy's URL for participants, None if they reach each other directly and unobserved.

    `peer_urls` says which addresses their cards may name besides the declared ones.
    """

    assignments: Assignments
    open_calls: OpenCalls
    carrier: Carrier
    proxy_base: str | None
    peer_urls: PeerUrls
    traces: TraceStore
    closed: ClosedTrials
    credentials: Credentials = NO_CREDENTIALS
    """What they are shown, by origin."""

    def peers(self, roster: list[RosterEntry]) -> list[RosterEntry]:
        """The roster as the registry gives it to participants."""
        return roster if self.proxy_base is None else observed_peers(roster, self.proxy_base)

    async def close(self, trace_id: str) -> ClosedTrace:
        """Closes a trial: revokes its tokens, and records and cancels the calls that have not ended.

        Raises StorageUnavailableError.
        """
        self.closed.add(trace_id)
        await self.carrier.calls.settle(trace_id)  # first, so that the closed trace holds all that was observed
        closed = await self.traces.close(trace_id)
        self.closed.notify(trace_id)
        return closed
