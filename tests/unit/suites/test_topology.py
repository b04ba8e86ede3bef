"""Topologies are connected, symmetric, and the same for the same draw."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.suite import Draw, Topology, distances, neighbours_in, neighbours_of

SEATS = [f"s{number}" for number in range(12)]


@given(topology=st.sampled_from(Topology), seats=st.integers(2, 40), secret=st.binary(min_size=1, max_size=8))
def test_a_topology_is_symmetric_connected_and_without_loops(topology: Topology, seats: int, secret: bytes) -> None:
    team = [f"s{number}" for number in range(seats)]
    neighbours = neighbours_in(topology, team, Draw(secret))
    assert list(neighbours) == team
    assert all(seat in neighbours[other] for seat in team for other in neighbours[seat])
    assert all(seat not in neighbours[seat] for seat in team)
    assert len(distances(neighbours, team[0])) == seats
    assert neighbours == neighbours_in(topology, team, Draw(secret))


@pytest.mark.parametrize(
    ("topology", "edges"),
    [(Topology.COMPLETE, 66), (Topology.STAR, 11), (Topology.CHAIN, 11), (Topology.RING, 12), (Topology.TREE, 11)],
)
def test_a_regular_topology_has_its_number_of_edges(topology: Topology, edges: int) -> None:
    neighbours = neighbours_in(topology, SEATS, Draw(b"x"))
    assert sum(map(len, neighbours.values())) == 2 * edges


def test_given_edges_must_join_seats_and_connect_all_of_them() -> None:
    assert neighbours_of(["a", "b", "c"], [("a", "b"), ("b", "c")])["b"] == ("a", "c")
    with pytest.raises(ValueError, match="an edge joins 'a' and 'x'"):
        neighbours_of(["a", "b"], [("a", "x")])
    with pytest.raises(ValueError, match="not connected"):
        neighbours_of(["a", "b", "c"], [("a", "b")])
