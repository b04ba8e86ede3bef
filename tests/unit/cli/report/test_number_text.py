"""Numbers for display: significant digits, and a fitting unit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_cli.number_text import duration, figure, percent
from tests.unit.cli.report.laws import law

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),  # noqa: RUF001
        (0.0, "0"),
        (-0.0001, "0"),
        (1.0, "1"),
        (2 / 3, "0.667"),
        (0.5, "0.5"),
        (12.34, "12.3"),
        (100, "100"),
        (1234.5, "1,234"),
        (1e12, "1.00e+12"),
    ],
)
def test_a_figure_is_rounded_for_display(value: float | None, text: str) -> None:
    assert figure(value) == text


@pytest.mark.parametrize(
    ("ms", "text"),
    [
        (None, "–"),  # noqa: RUF001
        (0.0, "0 ms"),
        (0.42, "0.42 ms"),
        (9.96, "10 ms"),
        (311.4, "311 ms"),
        (999.6, "1 s"),
        (1240.0, "1.24 s"),
        (125_000.0, "2.1 min"),
        (5_400_000.0, "1.5 h"),
    ],
)
def test_a_duration_has_the_unit_that_fits_it(ms: float | None, text: str) -> None:
    assert duration(ms) == text


@law
@given(finite)
def test_every_number_fits_into_a_column(value: float) -> None:
    assert len(figure(value)) <= 14
    assert len(duration(value)) <= 14


@law
@given(st.floats(0, 1))
def test_a_share_is_a_plain_percentage(share: float) -> None:
    text = percent(share)

    assert re.fullmatch(r"\d{1,3}(\.\d{1,3})?%", text)
    assert float(text[:-1]) == pytest.approx(100 * share, abs=0.001)
