"""Agree: every seat answers, and the answers must fit together."""

from typing import Final

from concord_suites.agree.colouring import Colouring
from concord_suites.agree.consensus import Consensus
from concord_suites.agree.leader_election import LeaderElection
from concord_suites.agree.maximal_matching import MaximalMatching
from concord_suites.agree.minimal_vertex_cover import MinimalVertexCover
from concord_suites.family import TextFamily

FAMILIES: Final[tuple[TextFamily, ...]] = (
    Consensus(),
    LeaderElection(),
    Colouring(),
    MaximalMatching(),
    MinimalVertexCover(),
)

__all__ = ["FAMILIES"]
