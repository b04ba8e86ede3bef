"""Outages of the collector: each is logged in few lines."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.agent.delivery import Outage, logger

MINUTE = 60.0


class OutageLog:
    """An outage with a clock that the test sets, and its log lines with their times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, url: str = "http://collector.test:9010/") -> None:
        self.time = 0.0
        self.lines: list[tuple[float, str]] = []
        monkeypatch.setattr(logger, "warning", lambda form, *values: self.lines.append((self.time, form % values)))
        self.outage = Outage(url, MINUTE, lambda: self.time)

    @property
    def last(self) -> str:
        return self.lines[-1][1]


def test_an_outage_is_logged_at_its_start_each_minute_and_at_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    log = OutageLog(monkeypatch)
    for second in range(150):
        log.time = float(second)
        log.outage.failed("refused", waiting=second, dropped=second // 10)
    log.time = 150.0
    log.outage.answered(waiting=7, dropped=20)
    log.outage.answered(waiting=0, dropped=20)
    assert log.lines == [
        (0.0, "the collector at http://collector.test:9010 accepts no steps: refused; 0 steps waiting, 0 dropped"),
        (
            60.0,
            "the collector at http://collector.test:9010 still accepts no steps: refused; 60 steps waiting, 6 dropped",
        ),
        (
            120.0,
            "the collector at http://collector.test:9010 still accepts no steps: refused; 120 steps waiting, "
            "12 dropped",
        ),
        (150.0, "the collector at http://collector.test:9010 accepts steps again; 7 steps waiting, 20 dropped"),
    ]


def test_a_later_outage_counts_only_its_own_dropped_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    log = OutageLog(monkeypatch)
    log.outage.failed("x", waiting=1, dropped=5)
    log.outage.answered(waiting=0, dropped=5)
    log.time = MINUTE
    log.outage.failed("x", waiting=2, dropped=8)
    assert log.last.endswith("accepts no steps: x; 2 steps waiting, 3 dropped")


@given(tries=st.lists(st.tuples(st.floats(0, 100), st.sampled_from(["failed", "answered", "refused"])), max_size=60))
def test_each_kind_of_line_is_logged_at_most_once_a_minute(tries: list[tuple[float, str]]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        log = OutageLog(patch)
        for pause, outcome in tries:
            log.time += pause
            if outcome == "failed":
                log.outage.failed("x", 1, 1)
            elif outcome == "answered":
                log.outage.answered(1, 1)
            else:
                log.outage.refused("x", 1)
    for kind in ("accepts no steps", "refused"):
        times = [time for time, line in log.lines if kind in line]
        assert all(later - earlier >= MINUTE for earlier, later in pairwise(times))
    away = [line for _, line in log.lines if "no steps" in line or "again" in line]
    assert all("no steps" in before for before, after in pairwise(away) if "again" in after)


def test_refusals_are_summed_up(monkeypatch: pytest.MonkeyPatch) -> None:
    log = OutageLog(monkeypatch)
    for second in range(61):
        log.time = float(second)
        log.outage.refused("HTTP 403", 100)
    assert [line for _, line in log.lines] == [
        "the collector at http://collector.test:9010 refused 100 steps: HTTP 403",
        "the collector at http://collector.test:9010 refused 6000 steps: HTTP 403",
    ]


def test_credentials_in_an_address_are_not_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    log = OutageLog(monkeypatch, "http://user:secret@collector.test/x?token=secret")
    log.outage.failed("x", 1, 0)
    log.outage.refused("x", 1)
    log.outage.ended(1)
    assert "secret" not in str(log.lines)
    assert all("http://collector.test/x" in line for _, line in log.lines)
