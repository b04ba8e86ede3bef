"""Flows and teams for drawings."""

from collections.abc import Iterable

from hypothesis import strategies as st

from concord_cli.row_view.flows import Flow


def flow(caller: str, callee: str, calls: int = 1, errors: int = 0) -> Flow:
    return Flow(caller, callee, calls, errors, 0, calls, 0, 0, None)


def flows(*pairs: str) -> list[Flow]:
    """`flows("ab", "bc")`: a calls b, and b calls c."""
    return [flow(*pair) for pair in pairs]


def names(n: int) -> list[str]:
    return [f"agent_{i:03}" for i in range(n)]


def star(hub: str, spokes: Iterable[str]) -> list[Flow]:
    return [flow(hub, spoke) for spoke in spokes]


@st.composite
def teams(draw: st.DrawFn, max_agents: int = 30) -> tuple[list[str], list[Flow]]:
    """Agents and flows among them, each pair at most once."""
    agents = names(draw(st.integers(0, max_agents)))
    if not agents:
        return [], []
    ends = st.tuples(st.sampled_from(agents), st.sampled_from(agents))
    pairs = draw(st.lists(ends, unique=True, max_size=60))
    return agents, [flow(*pair, draw(st.integers(1, 50)), draw(st.integers(0, 1))) for pair in sorted(pairs)]
