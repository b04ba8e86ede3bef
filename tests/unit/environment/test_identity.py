"""Ids of events and rows are version 5 UUIDs, so that other programs can compute them."""

from uuid import UUID, uuid5

from hypothesis import given
from hypothesis import strategies as st

from concord_environment.core.identity import event_id, namespace, row_id


@given(seed=st.integers(), lineage=st.text(), sequence=st.integers(min_value=0), nth=st.integers(min_value=0))
def test_an_id_is_the_version_5_uuid_of_its_counter(seed: int, lineage: str, sequence: int, nth: int) -> None:
    space = namespace(seed, lineage)
    assert event_id(space, sequence) == str(uuid5(UUID(bytes=space), str(sequence)))
    assert row_id(space, sequence, nth) == str(uuid5(UUID(bytes=space), f"{sequence}.{nth}"))
