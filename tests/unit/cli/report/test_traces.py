"""The page on many traces: its totals are those of the traces, and groups differ only where intervals show it."""

import json
import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from concord.assessment import AssessmentConfig
from concord.trace.attributes import RESPONSE_TEXT
from concord.trace.step import AgentInvocation, CallType, InteractionStep, StepAction
from concord_cli.commands.arguments import ReportArguments
from concord_cli.errors import UsageError
from concord_cli.evaluate.outputs import result_writer
from concord_cli.report.command import report
from concord_cli.report.traces import RunFacts, by_date, by_label, by_version, page_of
from concord_cli.report.traces.failures import MAX_LISTED, groups_of
from concord_cli.report.traces.runs import (
    EdgeFacts,
    agents_in,
    differences,
    edge_differences,
    edges_in,
    percentile,
    shapes_in,
)
from concord_evaluator.formats import Origin, TraceBuilder
from concord_evaluator.offline import evaluate_trace
from tests.kit.team_rows import lone_participant

START = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = st.sampled_from(["planner", "writer", "critic"])


def run(
    *edges: tuple[str, str, int, int],
    number: int = 0,
    version: str | None = None,
    tokens: dict[str, int] | None = None,
    took_s: float = 1.0,
    label: str | None = "high",
    outcome: str = "not judged",
    agent: str | None = None,
    error: str = "",
    handled: bool = False,
) -> RunFacts:
    return RunFacts(
        number=number,
        trace_id=f"t{number}",
        task="Plan a trip.",
        outcome=outcome,
        agent=agent,
        error=error,
        handled=handled,
        started_at=START + timedelta(hours=number),
        version=version,
        label=label,
        score=None,
        took_s=took_s,
        edges={(a, b): EdgeFacts(calls, failed, (10.0,) * calls) for a, b, calls, failed in edges},
        tokens=tokens or {},
    )


RUNS = st.lists(
    st.builds(
        lambda edges, n: run(*((*pair, max(counts), min(counts)) for pair, counts in edges.items()), number=n),
        st.dictionaries(st.tuples(NAMES, NAMES), st.tuples(st.integers(1, 5), st.integers(0, 5)), max_size=4),
        st.integers(0, 100),
    ),
    max_size=12,
)  # fmt: skip


@given(runs=RUNS)
def test_every_call_is_in_the_totals_once_and_every_trace_in_one_shape(runs: list[RunFacts]) -> None:
    calls, failed = sum(each.calls for each in runs), sum(each.failed for each in runs)
    for totals in (agents_in(runs), edges_in(runs)):
        assert sum(each.calls for each in totals.values()) == calls
        assert sum(each.failed for each in totals.values()) == failed
    shapes = shapes_in(runs)
    assert sum(shape.traces for shape in shapes) == len(runs)
    assert {shape.example for shape in shapes} <= {each.trace_id for each in runs}
    assert page_of("x", runs, [], "x-traces").calls == f"{calls:,}"


@given(values=st.lists(st.floats(0, 1e9), min_size=1), share=st.sampled_from([0.5, 0.95]))
def test_a_percentile_is_not_exceeded_by_its_share_of_the_values(values: list[float], share: float) -> None:
    found = percentile(sorted(values), share)
    assert found in values
    assert sum(value <= found for value in values) >= share * len(values)


def test_tokens_belong_to_a_pair_only_where_nobody_else_called_the_callee() -> None:
    alone = run(("planner", "writer", 1, 0), tokens={"writer": 30, "planner": 5})
    shared = run(("planner", "writer", 1, 0), ("critic", "writer", 1, 0), tokens={"writer": 70})
    edges = edges_in([alone, shared])
    assert (edges["planner", "writer"].tokens, edges["critic", "writer"].tokens) == (30, None)
    assert agents_in([alone, shared])["writer"].tokens == 100


def test_a_shape_is_a_set_of_pairs_with_the_trace_of_median_duration_as_example() -> None:
    runs = [run(("a", "b", count, 0), number=count, took_s=count) for count in (1, 9, 5)]
    other = run(("b", "a", 1, 1), number=7)
    first, second = shapes_in([*runs, other])
    assert (first.edges, first.traces, first.with_failures, first.example) == ((("a", "b"),), 3, 0, "t5")
    assert (second.traces, second.with_failures, second.example) == (1, 1, "t7")


def two_versions(failing: int, count: int = 40) -> list[RunFacts]:
    """The traces of an old version without failures and a new one in which so many traces have one."""
    old = [run(("a", "b", 2, 0), number=each, version="1") for each in range(count)]
    new = [run(("a", "b", 2, int(each < failing)), number=count + each, version="2") for each in range(count)]
    return [*new, *old]


def test_a_difference_is_sure_if_its_interval_excludes_none() -> None:
    division = by_version(two_versions(failing=20))
    assert division is not None
    by_measure = {each.measure: each for each in differences(division)}
    assert (division.first.name, division.second.name) == ("version 1", "version 2")
    assert by_measure["traces with a failed call, %"].sure
    assert not by_measure["calls of a trace"].sure
    assert edge_differences(division) == {("a", "b"): (0.0, 0.25)}


@pytest.mark.parametrize(("failing", "count"), [(0, 40), (1, 40), (5, 5)])
def test_chance_and_few_traces_show_no_difference(failing: int, count: int) -> None:
    division = by_version(two_versions(failing, count))
    assert division is not None
    assert not any(each.sure for each in differences(division))


def test_traces_are_divided_by_date_at_a_time_or_in_the_middle() -> None:
    runs = [run(("a", "b", 1, 0), number=each) for each in range(10)]
    for division, sizes in ((by_date(runs), (5, 5)), (by_date(runs, START + timedelta(hours=2)), (2, 8))):
        assert division is not None
        assert (len(division.first.runs), len(division.second.runs), division.left_out) == (*sizes, 0)
    assert by_date(runs, START) is None


def test_one_version_or_label_is_no_division_and_of_three_the_rarest_is_left_out() -> None:
    assert by_version([run(version="1"), run(version=None)]) is None
    assert by_label([run(label="high"), run(label=None)]) is None
    division = by_label([run(label=label) for label in ("high", "low", "high", "low", "medium")])
    assert division is not None
    assert division.left_out == 1


# What failed


def limited(number: int, error: str = "RateLimitError: 429", **facts: str) -> RunFacts:
    return run(number=number, agent="agent-3", error=error, **facts)  # type: ignore[arg-type]


def test_the_largest_group_of_failures_comes_before_larger_ones_without_any() -> None:
    good, late = [run(number=each) for each in range(9)], [run(number=20, agent="agent-1", error="TimeoutError")]
    groups = groups_of([*good, *late, *map(limited, range(10, 13))])
    assert [(each.agent, each.error, len(each.runs)) for each in groups] == [
        ("agent-3", "RateLimitError: 429", 3),
        ("agent-1", "TimeoutError", 1),
        (None, "", 9),
    ]


def test_outcome_agent_and_error_text_tell_groups_apart() -> None:
    runs = [limited(1), limited(2, outcome="failed"), limited(3, "RateLimitError: 503"), run(agent="b", error="x")]
    assert len(groups_of(runs)) == len(runs)
    assert len(groups_of([limited(1), replace(limited(2), handled=True)])) == 2


@pytest.mark.parametrize("text", ["{} of 3", "no row {}", "request {} failed"])
@pytest.mark.parametrize(("one", "other"), [("20261128", "20261129"), ("12.5", "0.31"), ("9f8e7d6c5b", "1a2b3c4d5e")])
def test_errors_that_differ_in_identifiers_or_measured_numbers_are_one_group(text: str, one: str, other: str) -> None:
    assert len(groups_of([limited(1, text.format(one)), limited(2, text.format(other))])) == 1


@given(sizes=st.lists(st.integers(1, 400), min_size=1, max_size=70))
@settings(max_examples=30, deadline=None)
def test_each_trace_is_in_one_group_and_each_group_lists_some_of_its_own(sizes: list[int]) -> None:
    kinds = [(f"Error{kind}", size) for kind, size in enumerate(sizes)]
    runs = [limited(number, error) for number, error in enumerate(error for error, size in kinds for _ in range(size))]
    groups = groups_of(runs)
    assert sorted(each.number for group in groups for each in group.runs) == [each.number for each in runs]
    assert all(group.listed for group in groups)
    assert sum(len(group.listed) for group in groups) == min(len(runs), MAX_LISTED)


# The command


def recorded_rows(path: Path, count: int) -> None:
    """Writes the rows of traces in which a planner asks a writer, who fails in every second trace."""
    with result_writer(path, {}) as write:
        for number in range(count):
            building = TraceBuilder(f"<i>{number}", Origin("file"))
            building.version = "1.0" if number % 2 else "2.0"
            started = START + timedelta(hours=number)
            step = InteractionStep(
                step_id="s", trace_id=building.trace_id, call_type=CallType.AGENT,
                step_action=StepAction(agent_invocation=AgentInvocation(agent_name="<b>writer")),
                additional_attributes={RESPONSE_TEXT: "x"}, error="gone" if number % 2 else None,
                start_time=started, end_time=started + timedelta(seconds=2),
            )  # fmt: skip
            building.declare("<b>writer")
            building.add(step, "planner")
            write(evaluate_trace(building.build(), AssessmentConfig()))


@pytest.mark.parametrize("name", ["rows.jsonl", "rows.json", "rows.jsonl.gz", "rows.json.gz"])
def test_many_traces_have_one_page_however_they_are_written(tmp_path: Path, name: str) -> None:
    recorded_rows(tmp_path / name, 4)
    page = report(ReportArguments(tmp_path / name))
    text = page.read_text()
    assert page == tmp_path / "rows.html"
    assert "planner" in text
    assert "version 1.0" in text
    assert "&lt;b&gt;writer" in text
    assert "<b>writer" not in text
    assert "✕</span> 2" in text
    assert '<td class="number">2 s</td>' in text


def test_the_page_leads_to_what_failed_and_to_a_page_of_each_trace(tmp_path: Path) -> None:
    recorded_rows(tmp_path / "rows.jsonl", 5)
    text = report(ReportArguments(tmp_path / "rows.jsonl", tmp_path / "out" / "all.html")).read_text()
    assert "2 traces of 5: &lt;b&gt;writer: gone" in text
    links = re.findall(r'href="(all-traces/[^"]+)"', text)
    assert {*links} == {f"all-traces/trace-{number}.html" for number in range(1, 6)}
    pages = {link: (tmp_path / "out" / link).read_text() for link in links}
    assert [link for link, page in sorted(pages.items()) if "gone" in page] == [
        "all-traces/trace-2.html",
        "all-traces/trace-4.html",
    ]


def test_a_terminal_sees_how_far_reading_and_writing_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    recorded_rows(tmp_path / "rows.jsonl", 5)
    report(ReportArguments(tmp_path / "rows.jsonl"))
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal
    report(ReportArguments(tmp_path / "rows.jsonl"))
    shown = capsys.readouterr().err
    assert "reading traces" in shown
    assert "writing their pages" in shown


def test_the_rows_are_written_in_the_same_bytes_every_time(tmp_path: Path) -> None:
    for name in ("one.jsonl.gz", "two.jsonl.gz"):
        recorded_rows(tmp_path / name, 3)
    assert (tmp_path / "one.jsonl.gz").read_bytes() == (tmp_path / "two.jsonl.gz").read_bytes()


def test_one_trace_of_many_has_the_page_of_a_result(tmp_path: Path) -> None:
    recorded_rows(tmp_path / "rows.jsonl", 3)
    arguments = ReportArguments(tmp_path / "rows.jsonl", tmp_path / "one.html", assessment_id="<i>1")
    assert "Recorded traces" not in report(arguments).read_text()


def test_a_division_that_the_traces_do_not_have_is_refused(tmp_path: Path) -> None:
    recorded_rows(tmp_path / "rows.jsonl", 3)
    with pytest.raises(UsageError, match="no two groups by date"):
        report(ReportArguments(tmp_path / "rows.jsonl", by="date", at=START))
    with pytest.raises(UsageError, match="--by size: one of version, date, label"):
        report(ReportArguments(tmp_path / "rows.jsonl", by="size"))
    recorded_rows(tmp_path / "one.jsonl", 1)
    with pytest.raises(UsageError, match="this is one result"):
        report(ReportArguments(tmp_path / "one.jsonl", by="date"))


def test_assessments_among_traces_are_refused(tmp_path: Path) -> None:
    recorded_rows(tmp_path / "rows.jsonl", 2)
    with (tmp_path / "rows.jsonl").open("a") as file:
        file.write(json.dumps(lone_participant().model_dump(mode="json")) + "\n")
    with pytest.raises(UsageError, match="has recorded traces and assessments"):
        report(ReportArguments(tmp_path / "rows.jsonl"))
