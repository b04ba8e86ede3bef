"""Totals over many traces, per agent and per pair of agents, and the shapes of the traces. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import TypeVar

from concord_cli.report.traces.facts import Edge, RunFacts

_Key = TypeVar("_Key", str, Edge)


@dataclass(frozen=True, slots=True)
class Totals:
    """Calls, failures, and the median and 95th percentile of the known durations (ms; None without any).

    `tokens` is None where the traces tell none that are surely theirs. `traces`: in which there was such a call.
    """

    calls: int
    failed: int
    p50_ms: float | None
    p95_ms: float | None
    tokens: int | None
    traces: int


@dataclass(frozen=True, slots=True)
class Shape:
    """The traces with calls between the same pairs of agents. `example`: the id of the one of median duration."""

    edges: tuple[Edge, ...]
    traces: int
    with_failures: int
    p50_s: float
    example: str


def agents_in(runs: Iterable[RunFacts]) -> dict[str, Totals]:
    """By agent, the calls that it got, and its own tokens. Those that most calls went to come first."""
    gathered: defaultdict[str, _Gathered] = defaultdict(_Gathered)
    for run in runs:
        for agent in sorted({end for edge in run.edges for end in edge} | run.tokens.keys()):
            gathered[agent].traces += 1
            if agent in run.tokens:
                gathered[agent].tokens = (gathered[agent].tokens or 0) + run.tokens[agent]
        for (_, callee), facts in run.edges.items():
            gathered[callee].take(facts.calls, facts.failed, facts.durations_ms)
    return _ranked(gathered)


def edges_in(runs: Iterable[RunFacts]) -> dict[Edge, Totals]:
    """By pair of agents, its calls; those with the most calls first.

    The tokens of a callee belong to the pair in traces in which nobody else called the callee; elsewhere nobody
    knows which call took them.
    """
    gathered: defaultdict[Edge, _Gathered] = defaultdict(_Gathered)
    for run in runs:
        callers = Counter(callee for _, callee in run.edges)
        for edge, facts in run.edges.items():
            gathered[edge].traces += 1
            gathered[edge].take(facts.calls, facts.failed, facts.durations_ms)
            if callers[edge[1]] == 1 and edge[1] in run.tokens:
                gathered[edge].tokens = (gathered[edge].tokens or 0) + run.tokens[edge[1]]
    return _ranked(gathered)


def shapes_in(runs: Iterable[RunFacts]) -> list[Shape]:
    """The shapes, the most frequent first."""
    alike: defaultdict[tuple[Edge, ...], list[RunFacts]] = defaultdict(list)
    for run in runs:
        alike[tuple(run.edges)].append(run)
    shapes = [_shape(edges, members) for edges, members in alike.items()]
    return sorted(shapes, key=lambda shape: (-shape.traces, shape.edges))


def percentile(values: Sequence[float], share: float) -> float | None:
    """The least of the sorted values that this share of them (0 to 1, not 0) does not exceed; None of none."""
    return values[ceil(share * len(values)) - 1] if values else None


class _Gathered:
    def __init__(self) -> None:
        self.calls = self.failed = self.traces = 0
        self.tokens: int | None = None
        self._durations: list[float] = []

    def take(self, calls: int, failed: int, durations_ms: Iterable[float]) -> None:
        self.calls += calls
        self.failed += failed
        self._durations.extend(durations_ms)

    def totals(self) -> Totals:
        known = sorted(self._durations)
        middle, high = percentile(known, 0.5), percentile(known, 0.95)
        return Totals(self.calls, self.failed, middle, high, self.tokens, self.traces)


def _ranked(gathered: Mapping[_Key, _Gathered]) -> dict[_Key, Totals]:
    ranked = sorted(gathered.items(), key=lambda item: (-item[1].calls, item[0]))
    return {key: each.totals() for key, each in ranked}


def _shape(edges: tuple[Edge, ...], members: Sequence[RunFacts]) -> Shape:
    ordered = sorted(members, key=lambda run: (run.took_s, run.trace_id))
    middle = ordered[(len(ordered) - 1) // 2]
    failures = sum(run.failed > 0 for run in members)
    return Shape(edges, len(members), failures, middle.took_s, middle.trace_id)
