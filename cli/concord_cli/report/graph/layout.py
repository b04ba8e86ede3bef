"""Where the agents stand: on a ring, in an order that keeps those who talk close, with the hub of a star inside."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from concord_cli.report.flows import Flow

MAX_PASSES: Final = 6
"""Of the search for a better order; it has mostly settled after three."""

MIN_STAR: Final = 4
"""Agents from which on a hub is drawn in the middle; of three, each stands beside the others anyway."""

_Weights = Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Agents around the ring, clockwise, and the one in its middle, if any."""

    ring: tuple[str, ...]
    centre: str | None = None


def arrange(agents: Sequence[str], flows: Iterable[Flow]) -> Arrangement:
    """Arranges the agents. The same agents and flows always give the same arrangement."""
    weights = _weights(flows)
    hub = _hub(agents, weights)
    if hub is not None:
        ring = _ordered([agent for agent in agents if agent != hub], weights)
        if _leaves_middle_free(ring, weights):
            return Arrangement(tuple(ring), hub)
    return Arrangement(tuple(_ordered(agents, weights)))


def _weights(flows: Iterable[Flow]) -> _Weights:
    weights: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    for flow in flows:
        weights[flow.caller][flow.callee] += flow.calls
        weights[flow.callee][flow.caller] += flow.calls
    return weights


def _hub(agents: Sequence[str], weights: _Weights) -> str | None:
    """The only agent that has every other as a partner."""
    if len(agents) < MIN_STAR:
        return None
    hubs = [agent for agent in agents if len(weights[agent]) == len(agents) - 1]
    return hubs[0] if len(hubs) == 1 else None


def _leaves_middle_free(ring: Sequence[str], weights: _Weights) -> bool:
    """Whether all flows of the ring stay near its rim, so that none runs through the agent in the middle."""
    at = {agent: i for i, agent in enumerate(ring)}
    reach = max(1, len(ring) // 3)
    partners = ((agent, partner) for agent in ring for partner in weights[agent] if partner in at)
    return all(_apart(at[agent], at[partner], len(ring)) <= reach for agent, partner in partners)


def _ordered(agents: Sequence[str], weights: _Weights) -> list[str]:
    """Lines agents up along their flows, then swaps them for as long as that brings those who talk closer."""
    order = _walk(agents, weights)
    at = {agent: i for i, agent in enumerate(order)}
    for _ in range(MAX_PASSES):
        swaps = [_swap_if_better(order, at, i, j, weights) for i in range(len(order)) for j in range(i + 1, len(order))]
        if not any(swaps):
            break
    return order


def _walk(agents: Sequence[str], weights: _Weights) -> list[str]:
    """From an agent with few partners on to whomever it talks to most, and so on: a chain stays a chain."""
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
    before = sum(_stretch(agent, at, weights) for agent in pair)
    at[pair[0]], at[pair[1]] = j, i
    if sum(_stretch(agent, at, weights) for agent in pair) < before:
        order[i], order[j] = order[j], order[i]
        return True
    at[pair[0]], at[pair[1]] = i, j
    return False


def _stretch(agent: str, at: Mapping[str, int], weights: _Weights) -> int:
    """The length of an agent's connections along the ring, each as often as it is used."""
    place = at[agent]
    return sum(
        calls * _apart(place, at[partner], len(at)) for partner, calls in weights[agent].items() if partner in at
    )


def _apart(i: int, j: int, n: int) -> int:
    return min((i - j) % n, (j - i) % n)
