"""Draws follow from their secret alone, and are uniform."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.suite import Draw, commitment, instance_secret


def test_a_draw_is_the_same_on_every_version_of_python() -> None:
    draw = Draw(b"known")
    assert [draw.below(1000) for _ in range(5)] == [841, 361, 445, 547, 300]


@given(secret=st.binary(max_size=40), items=st.lists(st.integers(), max_size=20))
def test_a_shuffle_keeps_all_items(secret: bytes, items: list[int]) -> None:
    assert sorted(Draw(secret).shuffled(items)) == sorted(items)


@given(secret=st.binary(max_size=40), low=st.integers(-100, 100), span=st.integers(0, 100))
def test_a_number_lies_in_its_range(secret: bytes, low: int, span: int) -> None:
    assert low <= Draw(secret).between(low, low + span) <= low + span


def test_all_orders_of_three_are_drawn_alike() -> None:
    draw = Draw(b"orders")
    counts = Counter(tuple(draw.shuffled("abc")) for _ in range(6000))
    assert len(counts) == 6
    assert all(850 < count < 1150 for count in counts.values())  # five standard deviations of a fair draw


def test_what_cannot_be_drawn_is_refused() -> None:
    with pytest.raises(ValueError, match="no number is below 0"):
        Draw(b"").below(0)
    with pytest.raises(ValueError, match="3 of 2 cannot be drawn"):
        Draw(b"").sample([1, 2], 3)


def test_each_task_has_a_secret_of_its_own() -> None:
    secrets = {instance_secret(b"m", f, t, a) for f in ("max", "sum") for t in ("1", "2") for a in (1, 2)}
    assert len(secrets) == 8


def test_a_commitment_is_the_sha_256_of_the_secret() -> None:
    assert commitment(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
