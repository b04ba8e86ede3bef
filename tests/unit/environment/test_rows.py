"""Rows: a row behaves as a frozen dataclass; only its construction is faster."""

from dataclasses import FrozenInstanceError, replace

import pytest

from concord_environment.core.rows import row


@row
class Point:
    """A row with a default."""

    x: int
    y: int = 2


def test_a_row_is_made_compared_replaced_and_shown_like_a_frozen_dataclass() -> None:
    assert Point(1) == Point(x=1, y=2) == replace(Point(0), x=1)
    assert hash(Point(1)) == hash(Point(1, 2))
    assert repr(Point(1)).endswith("Point(x=1, y=2)")
    with pytest.raises(TypeError, match="x"):
        Point()  # type: ignore[call-arg]  # the error under test


def test_a_row_is_immutable() -> None:
    point = Point(1)
    with pytest.raises(FrozenInstanceError):
        point.x = 2  # type: ignore[misc]  # the error under test
