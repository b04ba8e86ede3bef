"""The trace builder: reports are stored unchanged, and agents are identified by all their addresses."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.report import MAX_BATCH_STEPS, Channel
from concord.trace.step import InteractionStep
from concord.trace.stored_step import Step
from concord.wire.roster import Roster, RosterEntry
from concord_evaluator.formats import Origin, TraceBuilder
from concord_evaluator.formats.trace import file_trace_id
from tests.kit.digests import StepDigest, digest
from tests.kit.strategies import steps
from tests.kit.traces import TRACE_ID, call, tool


def builder() -> TraceBuilder:
    return TraceBuilder(TRACE_ID, Origin("file", 1))


def roster_of(*calls: InteractionStep, declared: tuple[RosterEntry | str, ...] = ()) -> Roster:
    building = builder()
    for agent in declared:
        building.declare(agent)
    for each in calls:
        building.add(each, "A")
    return Roster(building.build().roster)


@given(
    st.lists(
        st.tuples(steps, st.booleans(), st.sampled_from("AB"), st.sampled_from(Channel), st.booleans()), max_size=20
    )
)
def test_added_reports_are_in_the_trace_unchanged(
    added: list[tuple[InteractionStep, bool, str, Channel, bool]],
) -> None:
    building = builder()
    drawn = [
        (Step.of(step), struct, reporter, channel, authenticated)
        for step, struct, reporter, channel, authenticated in added
    ]
    for (model, *_), (step, struct, reporter, channel, authenticated) in zip(added, drawn, strict=True):
        building.add(step if struct else model, reporter, channel=channel, authenticated=authenticated)
    reports = list(building.build().reports())

    def key(each: tuple[StepDigest, str, Channel, bool]) -> tuple[str, ...]:
        return tuple(map(str, each))

    assert sorted(((digest(r.step), r.reporter, r.channel, r.authenticated) for r in reports), key=key) == sorted(
        ((digest(step), reporter, channel, authenticated) for step, _, reporter, channel, authenticated in drawn),
        key=key,
    )


def test_a_long_trace_is_split_into_batches_of_the_evaluators_limit() -> None:
    building = builder()
    for number in range(2 * MAX_BATCH_STEPS + 1):
        building.add(tool(f"s{number}"), "A")
    trace = building.build()
    assert [batch.n_steps for batch in trace.batches] == [MAX_BATCH_STEPS, MAX_BATCH_STEPS, 1]
    assert len({report.step.step_id for report in trace.reports()}) == 2 * MAX_BATCH_STEPS + 1


def test_dropped_steps_are_counted_with_their_reporter() -> None:
    building = builder()
    building.drop("A", 3)
    building.add(tool("s"), "A")
    assert [(batch.reporter, batch.n_steps, batch.dropped) for batch in building.build().batches] == [("A", 1, 3)]


def test_the_duration_is_from_the_first_to_the_last_reported_time() -> None:
    building = builder()
    building.add(call("s1", "B", start_time=datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)), "A")
    building.add(call("s2", "B", end_time=datetime(2026, 1, 1, 12, 0, 7)), "A")  # noqa: DTZ001 - taken as UTC
    building.add(call("s3", "B", start_time=datetime(2026, 1, 1, 12, 0, 4, 500_000, tzinfo=UTC)), "A")
    assert building.build().duration_s == 2.5


def test_reporters_and_declared_agents_belong_to_the_trace() -> None:
    assert [entry.id for entry in roster_of(tool("s"), declared=("C",))] == ["C", "A"]


def test_an_address_resolves_to_the_name_it_was_called_by() -> None:
    assert roster_of(call("s", "B", url="http://b:9009/")).resolve("http://B:9009") == "B"


def test_addresses_of_one_name_are_one_agent() -> None:
    roster = roster_of(call("s1", "B", url="http://b:1"), call("s2", "B", url="http://b:2"))
    assert {roster.resolve("http://b:1"), roster.resolve("http://b:2")} == {"B"}


def test_two_names_for_one_address_are_one_agent_in_either_order() -> None:
    calls = [call("s1", "B", url="http://b:1"), call("s2", "Bea", url="http://b:1")]
    assert (
        [entry.id for entry in roster_of(*calls)] == [entry.id for entry in roster_of(*reversed(calls))] == ["A", "B"]
    )


def test_an_address_resolves_to_the_reporter_called_there() -> None:
    roster = roster_of(call("s", "A", url="http://a:1"))
    assert (roster.resolve("http://a:1"), len(roster)) == ("A", 1)


def test_a_declared_address_takes_precedence_over_a_reported_one() -> None:
    declared = RosterEntry(id="writer", url="http://b:1")
    assert [entry.id for entry in roster_of(call("s", "B", url="http://b:1"), declared=(declared,))] == ["writer", "A"]


def test_addresses_in_nested_answers_are_known() -> None:
    nested = call("s2", "C", url="http://c:1")
    assert roster_of(call("s1", "B", url="http://b:1", answer=[nested])).resolve("http://c:1") == "C"


@pytest.mark.parametrize("name", ["green-agent", "unknown"])
def test_the_assessor_and_unknown_agents_are_not_in_the_roster(name: str) -> None:
    building = builder()
    building.add(tool("s"), name)
    assert building.build().roster == ()


@pytest.mark.parametrize("reporter", ["", "x" * 1001])
def test_a_reporter_with_an_invalid_id_is_refused(reporter: str) -> None:
    with pytest.raises(ValueError, match="reporter: must have 1 to 1000 characters"):
        builder().add(tool("s"), reporter)


@given(st.text("abc", max_size=100), st.text("abc", max_size=100), st.integers(1, 10**6))
def test_trace_ids_from_file_names_are_short_and_distinct(one: str, other: str, number: int) -> None:
    ids = [file_trace_id(f"folder/file-{stem}.json", number) for stem in (one, other)]
    assert all(len(each) <= 64 for each in ids)
    assert (ids[0] == ids[1]) == (one == other)


def test_a_trace_id_from_a_file_has_its_name_and_the_line() -> None:
    assert file_trace_id("runs/chain.jsonl", 2) == "chain#2"
