"""A sample of the planted faults (`make causes-gate`): each kind on some tasks, in rounds and by calls."""

from collections import Counter

import pytest

from concord_suites import FAMILIES
from tests.suites_gate.causes import EXCHANGES, IN_ROUNDS_ONLY, STYLES, Planted, missed, planted_in
from tests.suites_gate.faults import FAULTS


@pytest.fixture(scope="module")
def planted() -> list[Planted]:
    """Every kind in each exchange and in all styles by turns, in every third family by turns."""
    found = [
        planted_in(FAMILIES[(at * 7 + turn * 3) % len(FAMILIES)], at, kind, STYLES[(at + turn) % len(STYLES)], exchange)
        for at, kind in enumerate(FAULTS)
        for exchange in EXCHANGES
        for turn in range(6)
    ]
    return [each for each in found if each is not None]


def test_nearly_all_planted_faults_are_found_and_hardly_an_innocent_seat_is_named(planted: list[Planted]) -> None:
    assert list(missed(planted)) == []


def test_every_kind_of_fault_is_planted_in_each_exchange_that_has_it(planted: list[Planted]) -> None:
    expected = {(kind, exchange) for kind in FAULTS for exchange in EXCHANGES}
    assert set(Counter((each.kind, each.exchange) for each in planted)) == expected - {
        (kind, "calls") for kind in IN_ROUNDS_ONLY
    }
