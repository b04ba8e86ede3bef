"""A circular layout that places agents with many calls close to each other, and the hub of a star in the centre."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.row_view.flows import Flow

MAX_PASSES: Final = 6
"""Limit of the passes that improve the order; it has mostly settled after three."""

MIN_STAR: Final = 4
"""A team of fewer agents has no hub in the centre: of three, each is beside the others anyway."""

_Weights = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Layout:
    """The agents on the circle, clockwise, and the one in its centre, if any."""

    ring: tuple[str, ...]
    centre: str | None = None


def circular_layout(agents: Sequence[str], flows: Iterable[Flow]) -> Layout:
    """Lays the agents out. Deterministic."""
    weights = _weights(flows)
    hub = _hub(agents, weights)
    if hub is not None:
        ring = _ordered([agent for agent in agents if agent != hub], weights)
        if _leaves_centre_free(ring, weights):
            return Layout(tuple(ring), hub)
    return Layout(tuple(_ordered(agents, weights)))


def _weights(flows: Iterable[Flow]) -> _Weights:
    weights: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for flow in flows:
        weights[flow.caller][flow.callee] += flow.calls
        weights[flow.callee][flow.caller] += flow.calls
    return weights


def _hub(agents: Sequence[str], weights: _Weights) -> str | None:
    """The agent that is adjacent to every other, if there is exactly one."""
    if len(agents) < MIN_STAR:
        return None
    hubs = [agent for agent in agents if len(weights[agent]) == len(agents) - 1]
    return hubs[0] if len(hubs) == 1 else None


def _leaves_centre_free(ring: Sequence[str], weights: _Weights) -> bool:
    """Whether all flows between agents on the circle stay near its rim, so that none crosses the centre."""
    at = {agent: i for i, agent in enumerate(ring)}
    reach = max(1, len(ring) // 3)
    partners = ((agent, partner) for agent in ring for partner in weights[agent] if partner in at)
    return all(_distance(at[agent], at[partner], len(ring)) <= reach for agent, partner in partners)


def _ordered(agents: Sequence[str], weights: _Weights) -> list[str]:
    """Orders agents along their flows, then swaps pairs as long as that shortens the flows."""
    order = _order_by_flows(agents, weights)
    at = {agent: i for i, agent in enumerate(order)}
    for _ in range(MAX_PASSES):
        swaps = [_swap_if_better(order, at, i, j, weights) for i in range(len(order)) for j in range(i + 1, len(order))]
        if not any(swaps):
            break
    return order


def _order_by_flows(agents: Sequence[str], weights: _Weights) -> list[str]:
    """Starts at an agent with few neighbours and goes on to its most frequent one, so that a chain stays a chain."""
    left = sorted(agents, key=lambda agent: len(weights[agent]))
    order: list[str] = []
    while left:
        partners = weights[order[-1]] if order else {}
        following = max(left, key=lambda agent: partners.get(agent, 0))
        left.remove(following)
        order.append(following)
    return order


def _swap_if_better(order: list[str], at: dict[str, int], i: int, j: int, weights: _Weights) -> bool:
    pair = order[i], order[j]
    before = sum(_edge_length(agent, at, weights) for agent in pair)
    at[pair[0]], at[pair[1]] = j, i
    if sum(_edge_length(agent, at, weights) for agent in pair) < before:
        order[i], order[j] = order[j], order[i]
        return True
    at[pair[0]], at[pair[1]] = i, j
    return False


def _edge_length(agent: str, at: Mapping[str, int], weights: _Weights) -> int:
    """The total length of an agent's edges along the circle, weighted by calls."""
    place = at[agent]
    return sum(
        calls * _distance(place, at[partner], len(at)) for partner, calls in weights[agent].items() if partner in at
    )


def _distance(i: int, j: int, n: int) -> int:
    return min((i - j) % n, (j - i) % n)
