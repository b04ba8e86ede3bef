"""What `concord verify` takes for a difference between a row and the row that its bundle yields."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_cli.verify.differences import differences

finite = st.floats(allow_nan=False, allow_infinity=False, min_value=-1e12, max_value=1e12)


@given(finite)
def test_a_last_digit_is_no_difference(number: float) -> None:
    assert [*differences(number * (1 + 2e-16), number)] == []


@given(finite, st.floats(min_value=1e-6, max_value=1))
def test_a_digit_that_a_reader_could_see_is_one(number: float, share: float) -> None:
    assert [*differences(number + max(1.0, abs(number)) * share, number)]


@pytest.mark.parametrize(
    ("stated", "computed"),
    [(True, 1), (False, 0.0), (None, 0), ("1", 1), ({}, 0), (float("nan"), 1.0), (float("inf"), 1e308)],
)
def test_values_of_other_kinds_differ_however_near(stated: object, computed: object) -> None:
    try:
        assert [*differences(stated, computed)]  # type: ignore[arg-type]
    except ValueError:
        assert stated != computed  # a number that JSON does not have


def test_an_integer_and_its_float_are_equal() -> None:
    assert [*differences({"a": [1, 2]}, {"a": [1.0, 2.0]})] == []
