"""Days, times and durations in a user's text, and the free time of a calendar."""

from datetime import UTC, date, datetime, time, timedelta
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_purple.assistant.rules.times import (
    Interval,
    clock_times_in,
    day_in,
    duration_in,
    free_starts,
    window_in,
)

MONDAY = date(2026, 5, 4)
DAY = datetime(2026, 5, 7, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("on Thursday", date(2026, 5, 7)),
        ("on Monday", MONDAY),
        ("next Monday", date(2026, 5, 11)),
        ("tomorrow at noon", date(2026, 5, 5)),
        ("the day after tomorrow", date(2026, 5, 6)),
        ("on 7 May", date(2026, 5, 7)),
        ("on May 7th", date(2026, 5, 7)),
        ("on 2 January", date(2027, 1, 2)),
        ("by 2026-06-30", date(2026, 6, 30)),
        ("some day", None),
        ("on 31 June", None),
    ],
)
def test_the_day_that_a_text_names(text: str, day: date | None) -> None:
    assert day_in(text, MONDAY) == day


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("between 13:00 and 17:00", [time(13), time(17)]),
        ("at 3 pm or 12 a.m.", [time(15), time(0)]),
        ("at 9.30 am", [time(9, 30)]),
        ("room 12, 48.50 EUR, 25:00", []),
    ],
)
def test_the_clock_times_of_a_text(text: str, times: list[time]) -> None:
    assert clock_times_in(text) == times


@pytest.mark.parametrize(
    ("text", "minutes"),
    [("for an hour", 60), ("half an hour", 30), ("a 45-minute call", 45), ("two hours", 120), ("soon", None)],
)
def test_the_duration_that_a_text_names(text: str, minutes: int | None) -> None:
    assert duration_in(text) == (None if minutes is None else timedelta(minutes=minutes))


def test_a_part_of_the_day_is_a_window() -> None:
    window = window_in("in the afternoon", DAY.date(), UTC)
    assert (window.start.hour, window.end.hour) == (12, 18)


def test_the_free_starts_of_an_afternoon() -> None:
    busy = [_hours(13, 15), _hours(16, 17)]
    assert list(free_starts(busy, _hours(13, 17), timedelta(hours=1))) == [DAY + timedelta(hours=15)]


spans = st.tuples(st.integers(0, 1400), st.integers(1, 300)).map(
    lambda pair: Interval(DAY + timedelta(minutes=pair[0]), DAY + timedelta(minutes=sum(pair)))
)


@given(st.lists(spans, max_size=6), st.integers(5, 180))
def test_a_free_span_overlaps_no_busy_one_and_lies_in_the_window(busy: list[Interval], minutes: int) -> None:
    window, duration = _hours(8, 20), timedelta(minutes=minutes)
    for start in islice(free_starts(busy, window, duration), 60):
        assert window.start <= start
        assert start + duration <= window.end
        assert all(start + duration <= each.start or each.end <= start for each in busy)


@given(st.lists(spans, max_size=4), st.integers(1, 8))
def test_every_free_quarter_is_found(busy: list[Interval], quarters: int) -> None:
    window, duration = _hours(8, 20), timedelta(minutes=15 * quarters)
    starts = [window.start + timedelta(minutes=15 * number) for number in range(48)]
    free = [
        start
        for start in starts
        if start + duration <= window.end and all(start + duration <= each.start or each.end <= start for each in busy)
    ]
    assert list(free_starts(busy, window, duration)) == free


def _hours(first: int, last: int) -> Interval:
    return Interval(DAY + timedelta(hours=first), DAY + timedelta(hours=last))
