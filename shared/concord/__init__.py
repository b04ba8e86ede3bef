"""What the services of Concord and the agents they assess both speak.

The light base, enough to report traces: steps, assignments, the reporter and peer discovery. The messenger and
`concord.a2a` need the extra `agent`; `concord.storage` needs `storage`, `concord.service` `service`, and `concord.llm`
`openai` or another provider's name; `concord.trust.tokens` and `.token_keys` need `gateway` or `collector`.
"""

from concord import lean_httpx  # noqa: F401 - before anything that imports httpx

# isort: split
from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.trace.effects import Effect, EffectKind, Lines, Workspace
from concord.trace.step import CallType, InteractionStep, ResponseTrace
from concord.wire.assignment import Assignment
from concord.wire.roster import RosterEntry

__all__ = [
    "Assignment",
    "CallType",
    "Effect",
    "EffectKind",
    "InteractionStep",
    "Lines",
    "PeerDiscovery",
    "ResponseTrace",
    "RosterEntry",
    "TraceReporter",
    "Workspace",
]
