"""What the services of Concord and the agents they assess both speak.

The light base, enough to report traces: steps, assignments, the reporter and peer discovery. The packages
`concord.a2a`, `concord.storage`, `concord.llm` and `concord.service` need the extras `a2a`, `redis`, `llm`, `service`;
`concord.trust.tokens` and `concord.trust.token_keys` need `tokens`.
"""

from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.trace.step import CallType, InteractionStep, ResponseTrace
from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry

__all__ = [
    "Assignment",
    "CallType",
    "InteractionStep",
    "PeerDiscovery",
    "ResponseTrace",
    "RosterEntry",
    "TraceReporter",
]
