"""The participants: what lets a run see its participants, and tell each of them where it stands."""

from dataclasses import dataclass

from concord.assessment.roster import RosterEntry
from concord.storage import TraceStore
from concord.trust.closed_trials import ClosedTrials
from concord.trust.proxy_urls import observed_peers
from concord.trust.urls import PeerUrls
from concord_gateway.assignments import Assignments
from concord_gateway.proxy import Carrier
from concord_gateway.watch import Watches


@dataclass(frozen=True, slots=True)
class Participants:
    """`proxy_base`: where participants reach the proxy; None where they reach each other directly, and unseen.

    `peer_urls`: to which addresses the participants' cards may lead, beside those that the client declared.
    """

    assignments: Assignments
    watches: Watches
    carrier: Carrier
    proxy_base: str | None
    peer_urls: PeerUrls
    traces: TraceStore
    closed: ClosedTrials

    def peers(self, roster: list[RosterEntry]) -> list[RosterEntry]:
        """The roster as participants get it from the registry."""
        return roster if self.proxy_base is None else observed_peers(roster, self.proxy_base)

    async def close(self, trace_id: str) -> None:
        """Ends a trial: its tokens open nothing any more, and calls that have not ended are put down as that and end.

        Raises StorageUnavailableError.
        """
        self.closed.note(trace_id)
        await self.traces.close(trace_id)
        await self.carrier.settle(trace_id)
        self.closed.send_away(trace_id)
