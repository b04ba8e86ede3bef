"""Causal order: a call comes after the call that it was made in, whatever the clocks; and the timeline's records."""

from concord.assessment.results import MAX_CALLS, CallRecord
from concord.trace.report import Report
from concord.wire.roster import GREEN_AGENT
from concord_evaluator.pipeline.evaluators import call_records
from concord_evaluator.trace import Projection
from tests.kit.traces import call, observed, projected, reported_by, tool
from tests.unit.evaluator.timed import graph_of_reports, timed


def order(projection: Projection) -> list[str]:
    return [each.step_id for each in projection.calls]


def parents(projection: Projection) -> dict[str, str | None]:
    return {
        each.step_id: None if each.parent is None else projection.calls[each.parent].step_id
        for each in projection.calls
    }


class TestOrder:
    def test_calls_of_one_agent_are_ordered_by_its_clock(self) -> None:
        steps = [timed("3", "B", 0, 1), timed("1", "C", 2, 1), timed("2", "B", 1, 1)]
        assert order(projected(reported_by("A", *steps))) == ["3", "2", "1"]

    def test_a_nested_call_follows_its_parent_whatever_the_clocks(self) -> None:
        late, early = timed("1", "B", 100, 5), timed("2", "C", 3, 1, parent="1")
        assert order(projected(reported_by("A", late), reported_by("B", early))) == ["1", "2"]

    def test_a_slow_clock_does_not_move_later_calls(self) -> None:
        first, behind, last = timed("1", "B", 100, 5), timed("2", "C", 3, 1, parent="1"), timed("0", "C", 50, 1)
        assert order(projected(reported_by("A", first, last), reported_by("B", behind))) == ["0", "1", "2"]

    def test_calls_without_times_are_ordered_by_id_after_their_parents(self) -> None:
        steps = [call("3", "B"), call("2", "C"), call("1", "B", parent="3")]
        assert order(projected(reported_by("A", *steps))) == ["2", "3", "1"]

    def test_a_call_of_unknown_start_directly_follows_its_parent(self) -> None:
        asked, inner, later = timed("1", "B", 5, 9), call("3", "C", parent="1"), timed("2", "C", 6, 1)
        assert order(projected(reported_by("A", asked, later), reported_by("B", inner))) == ["1", "3", "2"]

    def test_the_start_is_derived_from_end_and_latency(self) -> None:
        ended = timed("1", "B", 9, None).model_copy(update={"start_time": None, "latency": 8000})
        ended = ended.model_copy(update={"end_time": timed("x", "B", 9, None).start_time})
        assert order(projected(reported_by("A", timed("0", "B", 2, 1), ended))) == ["1", "0"]


class TestParents:
    def test_the_parent_is_the_nearest_call_above_other_steps(self) -> None:
        steps = tool("2", parent="1"), tool("3", parent="2"), call("4", "C", parent="3")
        assert parents(projected(reported_by("A", call("1", "B")), reported_by("B", *steps))) == {"1": None, "4": "1"}

    def test_a_missing_step_loses_the_parent(self) -> None:
        assert parents(projected(reported_by("B", call("2", "C", parent="lost")))) == {"2": None}

    def test_calls_of_the_assessor_are_parents(self) -> None:
        assert parents(
            projected(observed(GREEN_AGENT, call("g", "A")), reported_by("A", call("1", "B", parent="g")))
        ) == {
            "g": None,
            "1": "g",
        }

    def test_parents_are_found_above_calls_that_do_not_count(self) -> None:
        seen = call("g", "A"), call("2", "C", parent="1", attributes={"agent_name": "B"})
        reports = observed(GREEN_AGENT, *seen), reported_by("A", call("1", "B", parent="g"))
        assert parents(projected(*reports)) == {"g": None, "1": "g", "2": "1"}
        assert parents(projected(*reports, evidence="observed")) == {"g": None, "2": "g"}

    def test_contradictory_parents_never_form_a_cycle(self) -> None:
        outer, inner = call("1", "B", parent="2"), call("2", "C", parent="1")
        seen = observed(GREEN_AGENT, call("1", "B", attributes={"agent_name": "A"}))
        projection = projected(reported_by("A", outer), reported_by("B", inner), seen)
        assert sorted(order(projection)) == ["1", "2"]
        assert parents(projection)["2"] in {None, "1"}

    def test_a_parent_in_another_trace_does_not_count(self) -> None:
        projection = projected(
            reported_by("A", call("1", "B")), reported_by("B", call("2", "C", parent="1", trace_id="another"))
        )
        assert parents(projection) == {"1": None, "2": None}
        assert projection.integrity.completeness == 0.5


def records(*reports: list[Report]) -> list[CallRecord]:
    return list(call_records(graph_of_reports(*reports)))


class TestRecords:
    def test_starts_are_milliseconds_after_the_earliest(self) -> None:
        steps = timed("1", "B", 10, 2), timed("2", "C", 10.25, 0.5, error="down"), call("3", "B")
        first, second, third = sorted(records(reported_by("A", *steps)), key=lambda record: record.step_id)
        assert (first.start_ms, first.duration_ms, first.error) == (0.0, 2000.0, None)
        assert (second.start_ms, second.duration_ms, second.error) == (250.0, 500.0, "down")
        assert (third.start_ms, third.duration_ms) == (None, None)

    def test_a_record_has_its_parent_its_ends_and_its_provenance(self) -> None:
        green = observed(GREEN_AGENT, call("g", "A"))
        claim, work = (
            reported_by("A", call("1", "B", parent="g")),
            reported_by("B", tool("2", parent="1"), call("3", "C", parent="1")),
        )
        assert [
            (each.step_id, each.parent_step_id, each.caller, each.callee, each.provenance)
            for each in records(green, claim, work)
        ] == [
            ("g", None, GREEN_AGENT, "A", "observed"),
            ("1", "g", "A", "B", "corroborated"),
            ("3", "1", "B", "C", "reported"),
        ]

    def test_records_include_every_attempt_self_calls_and_unknown_callees(self) -> None:
        steps = [
            call("1", "B", error="busy"),
            call("2", "B", attributes={"retry_of": "1"}),
            call("3", "A"),
            call("4", "", url=""),
        ]
        assert [(each.step_id, each.callee) for each in records(reported_by("A", *steps))] == [
            ("1", "B"),
            ("2", "B"),
            ("3", "A"),
            ("4", "unknown"),
        ]

    def test_records_are_limited_in_number(self) -> None:
        assert len(records(reported_by("A", *(call(str(n), "B") for n in range(MAX_CALLS + 5))))) == MAX_CALLS

    def test_the_critical_path_is_marked_only_if_calls_have_times(self) -> None:
        steps = timed("1", "B", 0, 1), timed("2", "C", 0, 3)
        assert [each.step_id for each in records(reported_by("A", *steps)) if each.on_critical_path] == ["2"]
        assert not any(each.on_critical_path for each in records(reported_by("A", call("1", "B"))))
