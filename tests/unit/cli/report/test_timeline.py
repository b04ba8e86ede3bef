"""The timeline: a bar for each timed call in the callee's lane, with an arrow from the caller's."""

from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from concord.assessment.results import CallRecord
from concord.wire.roster import GREEN_AGENT
from concord_cli.report.timeline import BAR, LONGEST_MS, MAX_ARROWS, MAX_LANES, Bar, draw
from tests.kit.team_rows import mesh_of_five
from tests.unit.cli.report.calls import call, call_records, names_of, timeline
from tests.unit.cli.report.laws import law


def share(text: str) -> float:
    return float(text.removesuffix("%"))


def overlap(one: Bar, other: Bar) -> bool:
    across = share(one.x) < share(other.end) - 0.01 and share(other.x) < share(one.end) - 0.01
    return across and abs(one.y - other.y) < BAR


@law
@given(st.lists(call_records, max_size=30))
def test_every_call_with_a_time_is_a_bar_within_the_plot_and_no_two_bars_overlap(calls: list[CallRecord]) -> None:
    drawn = draw(calls, names_of(*calls))
    timed = [each for each in calls if each.start_ms is not None and abs(each.start_ms) <= LONGEST_MS]

    assert (drawn is None) == (not timed)
    if drawn is not None:
        assert len(drawn.bars) == len(timed)
        assert drawn.untimed == len(calls) - len(timed)
        assert all(0 <= share(bar.x) <= share(bar.end) <= 100 for bar in drawn.bars)
        assert all(drawn.lanes[0].top < bar.y < drawn.height - BAR for bar in drawn.bars)
        assert not any(overlap(one, other) for one, other in combinations(drawn.bars, 2))


@law
@given(st.lists(call_records, max_size=30))
def test_the_same_calls_are_drawn_the_same(calls: list[CallRecord]) -> None:
    assert draw(calls, names_of(*calls)) == draw(list(calls), names_of(*calls))


def test_calls_without_times_have_no_timeline() -> None:
    calls = [call("1", "a", "b", None, None)]

    assert draw(calls, names_of(*calls)) is None


def test_lanes_are_in_the_order_of_the_first_calls_and_the_assessor_has_none() -> None:
    drawn = timeline(call("1", GREEN_AGENT, "b"), call("2", "b", "a", 2), call("3", "b", "c", 4))

    assert [lane.name for lane in drawn.lanes] == ["b", "a", "c"]


def test_a_bar_stands_in_the_lane_of_the_callee() -> None:
    drawn = timeline(call("1", "a", "b"))

    assert drawn.lanes[1].top < drawn.bars[0].y < drawn.lanes[1].bottom


def test_position_and_width_are_proportional_to_time() -> None:
    drawn = timeline(call("1", "a", "b", 0, 100), call("2", "a", "b", 25, 50))
    whole, part = drawn.bars

    assert share(part.x) * 4 == share(whole.end)
    assert share(part.width) * 2 == share(whole.width)


def test_concurrent_calls_are_stacked_with_the_earlier_on_top() -> None:
    first, second = timeline(call("1", "a", "b", 0, 100), call("2", "c", "b", 10, 20)).bars

    assert second.y > first.y


def test_an_arrow_leads_from_the_bar_of_the_parent_call() -> None:
    drawn = timeline(call("1", GREEN_AGENT, "a", 0, 100), call("2", "a", "b", 10, 20, parent="1"))
    outer, inner = drawn.bars
    (arrow,) = drawn.arrows

    assert (arrow.start, arrow.end, arrow.x) == (outer.y + BAR, inner.y, inner.x)


def test_an_arrow_upwards_ends_below_its_bar() -> None:
    calls = [call("1", GREEN_AGENT, "a", 0, 100), call("2", "a", "b", 10, 50, parent="1")]
    drawn = timeline(*calls, call("3", "b", "a", 20, 10, parent="2"))
    arrow = drawn.arrows[-1]

    assert arrow.start > arrow.end == drawn.bars[-1].y + BAR


def test_failed_calls_and_calls_on_the_critical_path_are_marked_differently() -> None:
    failed, critical = timeline(call("1", "a", "b", 0, error="no answer"), call("2", "a", "c", 20, critical=True)).bars

    assert (failed.failed, failed.critical) == (True, False)
    assert (critical.failed, critical.critical) == (False, True)
    assert "failed: no answer" in failed.title


def test_the_timeline_shows_the_critical_path_of_the_row() -> None:
    calls = mesh_of_five().detail.trials[0].calls
    drawn = timeline(*calls)

    assert sum(bar.critical for bar in drawn.bars) == sum(each.on_critical_path for each in calls) > 1


def test_with_too_many_calls_only_the_failed_one_has_an_arrow() -> None:
    calls = [call(str(i), "a", "b", 20 * i, error="no" if i == 3 else None) for i in range(MAX_ARROWS + 1)]
    drawn = timeline(*calls)

    assert drawn.arrows_chosen
    assert [arrow.name.text for arrow in drawn.arrows] == ["4"]


def test_with_too_many_agents_the_busiest_have_lanes_and_the_other_calls_are_counted() -> None:
    crowd = [call(str(i), "a", f"once-{i}", 20 * i) for i in range(MAX_LANES)]
    drawn = timeline(*crowd, *(call(f"b{i}", "a", "often", 20 * i) for i in range(3)))

    assert len(drawn.lanes) == MAX_LANES
    assert {"a", "often"} <= {lane.name for lane in drawn.lanes}
    assert drawn.beyond == len(crowd) - (MAX_LANES - 2)


def test_ticks_are_round_times_from_the_first_call_on() -> None:
    drawn = timeline(call("1", "a", "b", 0, 1000))

    assert [tick.text for tick in drawn.ticks] == ["0 ms", "200 ms", "400 ms", "600 ms", "800 ms", "1 s"]
