"""The library for agents under test: assignment, peer discovery and step reporting.

`concord.agent.messenger` calls other agents and needs the extra `a2a`.
"""

from concord.agent.peers import PeerDiscovery
from concord.agent.reporter import TraceReporter
from concord.wire.assignment import Assignment

__all__ = ["Assignment", "PeerDiscovery", "TraceReporter"]
