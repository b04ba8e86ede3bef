"""Messages and artifacts of a trace as one temporal network: who wrote what, and who read it after. Pure.

Agents and artifacts are its nodes. A message is an edge between agents, a change an edge from an agent to an artifact,
and a reading one back, in the order of the acts. A path counts only if each edge comes after the one before.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

from concord.assessment.cost import MAX_ARTIFACTS, MAX_NAMED_AGENTS, ArtifactUse, TemporalNetwork
from concord.trace.effects import EffectKind
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.observations.acts import Act, Deed

MAX_NODES: Final = 500
"""Agents and artifacts that are followed, in the order in which they appear."""

_WRITES: Final = frozenset({EffectKind.EDITED, EffectKind.DELIVERED})
_TOKEN: Final = re.compile(r"[\w./@:+-]+")

Kind = Literal["message", "write", "read"]


@dataclass(frozen=True, slots=True)
class Edge:
    """A message, a change or a reading, from who or what had it to who or what got it."""

    kind: Kind
    source: str
    target: str


def edges_of(acts: Sequence[Act]) -> Iterator[Edge]:
    """The edges of a trace, in the order of its acts. What failed carried nothing.

    A use of a tool that names an artifact, and has no effect of its own, reads it.
    """
    artifacts = {act.effect.artifact for act in acts if act.effect is not None and act.effect.kind in _WRITES}
    for act in acts:
        if act.error is not None or act.agent == GREEN_AGENT:
            continue
        if act.effect is not None:
            if act.effect.kind in _WRITES:
                yield Edge("write", act.agent, act.effect.artifact)
        elif act.deed in {Deed.MESSAGE, Deed.ANSWER} and act.to not in {act.agent, GREEN_AGENT}:
            yield Edge("message", act.agent, act.to)
        elif act.deed is Deed.TOOL and artifacts:
            named = dict.fromkeys(token for token in _TOKEN.findall(act.text) if token in artifacts)
            yield from (Edge("read", artifact, act.agent) for artifact in named)


@dataclass(slots=True)
class _Artifact:
    writers: dict[str, None] = field(default_factory=dict)
    readers: dict[str, None] = field(default_factory=dict)
    writes: int = 0
    reads_after: int = 0

    def add(self, edge: Edge) -> None:
        if edge.kind == "write":
            self.writes += 1
            self.writers[edge.source] = None
        elif self.writers.keys() - {edge.target}:
            self.reads_after += 1
            self.readers[edge.target] = None


def temporal_network(acts: Sequence[Act], agents: Iterable[str]) -> TemporalNetwork | None:
    """The network of a trace between these agents and others in it. None if nothing passed between them."""
    edges = list(edges_of(acts))
    if not edges:
        return None
    team = list(dict.fromkeys([*agents, *(name for edge in edges for name in _agents_in(edge))]))[:MAX_NODES]
    used = defaultdict[str, _Artifact](_Artifact)
    for edge in edges:
        if edge.kind != "message":
            used[edge.target if edge.kind == "write" else edge.source].add(edge)
    ranked = sorted(used, key=lambda name: (-len(used[name].writers) - len(used[name].readers), name))
    return TemporalNetwork(
        messages=sum(edge.kind == "message" for edge in edges),
        writes=sum(edge.kind == "write" for edge in edges),
        reads=sum(edge.kind == "read" for edge in edges),
        reached=_reached(edges, team, lambda _: True),
        reached_by_messages=_reached(edges, team, lambda edge: edge.kind == "message"),
        artifacts=[_record(name, used[name]) for name in ranked[:MAX_ARTIFACTS]],
        artifacts_omitted=max(0, len(ranked) - MAX_ARTIFACTS),
    )


def _agents_in(edge: Edge) -> tuple[str, ...]:
    if edge.kind == "message":
        return edge.source, edge.target
    return (edge.source,) if edge.kind == "write" else (edge.target,)


def _reached(edges: Iterable[Edge], team: Sequence[str], counts: Callable[[Edge], bool]) -> float | None:
    """The share of ordered pairs of agents of which the first could reach the second along paths in time."""
    if len(team) < 2:
        return None
    known = {("agent", name): 1 << place for place, name in enumerate(team)}
    for edge in edges:
        if counts(edge):
            source = "artifact" if edge.kind == "read" else "agent", edge.source
            target = "artifact" if edge.kind == "write" else "agent", edge.target
            known[target] = known.get(target, 0) | known.get(source, 0)
    met = sum(known["agent", name].bit_count() - 1 for name in team)
    return met / (len(team) * (len(team) - 1))


def _record(name: str, artifact: _Artifact) -> ArtifactUse:
    return ArtifactUse(
        artifact=name,
        writers=list(artifact.writers)[:MAX_NAMED_AGENTS],
        readers=list(artifact.readers)[:MAX_NAMED_AGENTS],
        writes=artifact.writes,
        reads_after=artifact.reads_after,
    )
