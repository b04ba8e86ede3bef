"""The distinct combinations of columns."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.trace.columns import cases

CODES = st.integers(-3, 3)
ROWS = st.lists(st.tuples(CODES, CODES, CODES), max_size=20)


def columns(rows: Sequence[tuple[int, ...]]) -> list["np.ndarray[Any, Any]"]:
    return [np.array([row[place] for row in rows], np.int64) for place in range(3)]


@given(rows=ROWS)
def test_a_case_is_a_combination_and_its_row_the_first_that_has_it(rows: list[tuple[int, ...]]) -> None:
    place, case = cases(*columns(rows))
    distinct = sorted({*rows})
    assert case.tolist() == [distinct.index(row) for row in rows]
    assert place.tolist() == [rows.index(each) for each in distinct]
