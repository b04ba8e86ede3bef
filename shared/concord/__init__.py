"""What the services of Concord and the agents they assess both speak.

The light base, enough to report traces: steps, assignments, the reporter and peer discovery. The messenger and
`concord.a2a` need the extra `agent`; `concord.storage` needs `storage`, `concord.service` `service`, and `concord.llm`
`openai` or another provider's name; `concord.trust.tokens` and `.token_keys` need `gateway` or `collector`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

from concord import lean_httpx  # noqa: F401 - before anything that imports httpx

if TYPE_CHECKING:
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

_MODULES: Final = {
    "Assignment": "wire.assignment",
    "CallType": "trace.step",
    "Effect": "trace.effects",
    "EffectKind": "trace.effects",
    "InteractionStep": "trace.step",
    "Lines": "trace.effects",
    "PeerDiscovery": "agent.peers",
    "ResponseTrace": "trace.step",
    "RosterEntry": "wire.roster",
    "TraceReporter": "agent.reporter",
    "Workspace": "trace.effects",
}


def __getattr__(name: str) -> object:
    # Imported when first used: an import of any module of this package runs this file first.
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
