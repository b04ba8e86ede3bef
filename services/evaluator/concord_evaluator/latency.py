"""Latency (ms): how long agents took to answer. Average, percentiles with their reliability, and the slowest agent."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from math import fsum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from concord.assessment.results import LatencySummary
from concord.assessment.table import Record
from concord.wire.roster import Roster
from concord_evaluator.trace import Links

P95_NEEDS: Final = 20
P99_NEEDS: Final = 100
"""With fewer values, a percentile depends more on their number than on the agents."""


class CalleeLatencies(Record):
    """The latencies of all attempts to call one agent."""

    agent: str
    latencies_ms: list[float]


def latencies_of(links: Links) -> list[CalleeLatencies]:
    """The known latencies of calls, by callee, sorted."""
    values, bounds = links.latencies_ms
    callee = np.repeat(links.callee, np.diff(bounds))
    order = np.lexsort((values, links.steps.names.ranks(callee)))
    callee, values = callee[order], values[order]
    starts = np.append(0, np.flatnonzero(callee[1:] != callee[:-1]) + 1) if len(callee) else np.zeros(0, np.int64)
    names = links.steps.names.texts
    return [
        CalleeLatencies.model_construct(agent=names[callee[group[0]]], latencies_ms=values[group].tolist())
        for group in np.split(np.arange(len(values)), starts[1:])
        if len(group)
    ]


def pooled(latencies: Iterable[CalleeLatencies]) -> Mapping[str, list[float]]:
    """All latencies by callee, which may occur more than once; empty for another agent."""
    values: defaultdict[str, list[float]] = defaultdict(list)
    for callee in latencies:
        values[callee.agent].extend(callee.latencies_ms)
    return values


def summarise(latencies: Iterable[CalleeLatencies], roster: Roster) -> LatencySummary:
    """Summarises all values together, in any order. The slowest agent has the highest mean latency.

    Percentiles are NumPy's `median_unbiased` (Hyndman & Fan 1996, type 8), since the default linear ones underestimate
    the tail of small samples. A callee may occur more than once.
    """
    arrays = {agent: np.sort(np.asarray(values)) for agent, values in sorted(pooled(latencies).items()) if values}
    if not arrays:
        return LatencySummary()
    values = np.sort(np.concatenate(list(arrays.values())))
    p50, p95, p99 = np.percentile(values, (50, 95, 99), method="median_unbiased").tolist()
    slowest = max(arrays, key=lambda agent: _mean(arrays[agent]))
    return LatencySummary(
        avg=_mean(values),
        p50=p50,
        p95=p95,
        p99=p99,
        n=len(values),
        p95_reliable=len(values) >= P95_NEEDS,
        p99_reliable=len(values) >= P99_NEEDS,
        slowest_agent=slowest,
        slowest_agent_url=_url_of(slowest, roster),
    )


def _mean(values: NDArray[np.float64]) -> float:
    """The same on every machine: NumPy adds in an order that depends on the processor's vectors."""
    return fsum(values.tolist()) / len(values)


def _url_of(agent: str, roster: Roster) -> str | None:
    """The URL of an agent, declared or in the id of an undeclared one. None for an agent inside a participant."""
    if agent in roster:
        return roster[agent].url
    return agent.removeprefix("url:") if agent.startswith("url:") else None
