"""Days that the gate of the office must refuse."""

from lab.office.__main__ import Counts, GateCount, _faults


def _counted(passed: int, *, played: int = 2) -> GateCount:
    return GateCount(played, passed, ["order 0: why", "order 1: why"])


def test_a_right_way_that_fails_a_day_fails_the_gate_with_its_reason() -> None:
    found: Counts = {("order", "thanking"): _counted(1)}
    assert list(_faults(found)) == ["failed: order: thanking passes 1 of 2 days: order 0: why | order 1: why"]


def test_a_wrong_way_that_passes_a_day_fails_the_gate() -> None:
    found: Counts = {("order", "wrecker"): _counted(1), ("order", "null"): _counted(0)}
    assert list(_faults(found)) == ["failed: order: wrecker passes 1 of 2 days"]


def test_an_oracle_of_some_errands_that_earns_more_or_less_than_these_fails_the_gate() -> None:
    found: Counts = {("skill", "1 of 2"): _counted(3), ("skill", "2 of 2"): _counted(4)}
    assert list(_faults(found)) == ["failed: the oracle of 1 of 2 errands does 3 in 2 days"]
