"""The times of characters' replies."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_assistant.characters.timing import Window, delay_of, placed
from concord_assistant.scenario.schema import ResponseTiming

START = datetime(2026, 3, 16, 9, tzinfo=UTC)
SECOND = timedelta(seconds=1)

durations = st.timedeltas(timedelta(), timedelta(days=3))
keys = st.text(max_size=20)
seeds = st.integers(0, 2**32)


@st.composite
def windows(draw: st.DrawFn) -> Window:
    return Window(START + SECOND, START + SECOND + draw(durations))


@given(base=durations, variance=durations, seed=seeds, key=keys)
def test_a_delay_is_within_the_variance_and_not_negative(
    base: timedelta, variance: timedelta, seed: int, key: str
) -> None:
    delay = delay_of(ResponseTiming(base_delay=base, variance=variance), seed, key)
    assert max(base - variance, timedelta()) <= delay <= base + variance


@given(due=durations, window=windows(), seed=seeds, key=keys)
def test_a_reply_arrives_inside_the_window_or_is_held(due: timedelta, window: Window, seed: int, key: str) -> None:
    at = placed(START + due, window, seed, key)
    if at is None:
        assert START + due > window.latest or window.latest == window.earliest
    else:
        assert window.earliest < at <= window.latest
        assert at == START + due or (START + due <= window.earliest and at <= window.earliest + SECOND)


@given(due=durations, steps=st.lists(st.timedeltas(2 * SECOND, timedelta(hours=9)), max_size=30), seed=seeds)
def test_a_held_reply_arrives_in_exactly_one_turn_at_its_time(
    due: timedelta, steps: list[timedelta], seed: int
) -> None:
    moment, arrivals = START, list[datetime]()
    for step in steps:
        window = Window(moment + SECOND, moment + step)
        if not arrivals and (at := placed(START + due, window, seed, "m")) is not None:
            arrivals.append(at)
        moment += step
    reached = START + due <= moment and bool(steps)
    assert len(arrivals) == reached
    # A time in the second in which the assistant's actions execute is the only one that is moved.
    assert all(START + due <= at <= START + due + 2 * SECOND for at in arrivals)


def test_the_draw_is_the_same_in_every_process() -> None:
    program = (
        "from datetime import timedelta; from concord_assistant.characters.timing import delay_of;"
        "from concord_assistant.scenario.schema import ResponseTiming;"
        "t = ResponseTiming(base_delay=timedelta(hours=1), variance=timedelta(minutes=30));"
        "print(delay_of(t, 7, 'ben') // timedelta(microseconds=1))"
    )
    times = {
        subprocess.run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed}, capture_output=True, check=True)
        .stdout.decode()
        .strip()
        for seed in ("1", "2")
    }
    timing = ResponseTiming(base_delay=timedelta(hours=1), variance=timedelta(minutes=30))
    assert times == {str(delay_of(timing, 7, "ben") // timedelta(microseconds=1))}


def test_draws_of_different_seeds_characters_and_messages_differ_and_fill_the_range() -> None:
    timing = ResponseTiming(base_delay=timedelta(hours=1), variance=timedelta(hours=1))
    drawn = [delay_of(timing, seed, key) for seed in range(50) for key in ("a", "b")]
    assert len(set(drawn)) == len(drawn)
    assert min(drawn) < timedelta(minutes=15)
    assert max(drawn) > timedelta(minutes=105)
    assert 50 < sum(each > timedelta(minutes=30) for each in drawn) < 95


def test_times_of_any_zone_are_compared_in_utc() -> None:
    # On 29 March 2026 at 02:00, clocks in Berlin change to 03:00.
    berlin = ZoneInfo("Europe/Berlin")
    window = Window.of(datetime(2026, 3, 29, 1, 30, tzinfo=berlin), datetime(2026, 3, 29, 3, 30, tzinfo=berlin))
    assert window.latest - window.earliest == timedelta(hours=1)
    with pytest.raises(ValueError, match="no time zone"):
        Window.of(datetime(2026, 3, 29), window.latest)  # noqa: DTZ001 - the subject
