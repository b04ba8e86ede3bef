"""Agreement of a judge with labels: error rates by kind, and agreement beyond chance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.statistics import agreement

PASS, FAIL = True, False


def test_errors_are_counted_by_kind() -> None:
    verdicts = [(PASS, PASS)] * 6 + [(PASS, FAIL)] * 2 + [(FAIL, FAIL)] * 3 + [(FAIL, PASS)]
    found = agreement(verdicts)
    assert (found.accuracy.count, found.accuracy.n) == (9, 12)
    assert (found.false_pass.count, found.false_pass.n) == (1, 4)
    assert (found.false_fail.count, found.false_fail.n) == (2, 8)
    assert found.false_pass.interval is not None
    assert (found.false_pass.interval.low, found.false_pass.interval.high) == pytest.approx((0.0456, 0.6994), abs=1e-4)


def test_kappa_follows_cohens_formula() -> None:
    """Cohen's formula by hand: observed .75, expected (8·7 + 4·5) / 144."""
    verdicts = [(PASS, PASS)] * 6 + [(PASS, FAIL)] * 2 + [(FAIL, FAIL)] * 3 + [(FAIL, PASS)]
    kappa = agreement(verdicts).kappa
    expected = (8 * 7 + 4 * 5) / 144
    assert kappa is not None
    assert kappa.value == pytest.approx((0.75 - expected) / (1 - expected))
    assert (kappa.low, kappa.high) == pytest.approx((-0.0351965, 0.9763730)), "statsmodels 0.15, cohens_kappa"


def test_perfect_agreement_has_no_interval() -> None:
    kappa = agreement([(PASS, PASS), (FAIL, FAIL)] * 4).kappa
    assert kappa is not None
    assert (kappa.value, kappa.low, kappa.high) == (1.0, None, None)


@pytest.mark.parametrize("verdicts", [[], [(PASS, PASS)] * 5, [(PASS, FAIL)] * 5, [(PASS, PASS), (FAIL, PASS)]])
def test_constant_verdicts_have_no_kappa(verdicts: list[tuple[bool, bool]]) -> None:
    assert agreement(verdicts).kappa is None


@given(st.lists(st.tuples(st.booleans(), st.booleans()), max_size=30))
def test_right_and_wrong_verdicts_add_up_and_kappa_stays_in_its_range(verdicts: list[tuple[bool, bool]]) -> None:
    found = agreement(verdicts)
    assert found.accuracy.count + found.false_pass.count + found.false_fail.count == len(verdicts)
    if found.kappa is not None:
        assert -1 <= found.kappa.value <= 1
        assert -1 <= (found.kappa.low or 0) <= (found.kappa.high or 0) <= 1
