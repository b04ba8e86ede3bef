"""What the services of Concord and the agents they assess both speak.

The light base, enough to report traces: steps, assignments, the reporter and peer discovery. The packages
`concord.a2a`, `concord.storage`, `concord.llm` and `concord.service` need the extras `a2a`, `redis`, `llm`, `service`;
`concord.tokens` and `concord.keyring` need `tokens`.
"""

from concord.assignment import Assignment
from concord.identity import RosterEntry
from concord.peers import PeerDiscovery
from concord.reporter import TraceReporter
from concord.steps import CallType, InteractionStep, ResponseTrace

__all__ = [
    "Assignment",
    "CallType",
    "InteractionStep",
    "PeerDiscovery",
    "ResponseTrace",
    "RosterEntry",
    "TraceReporter",
]
