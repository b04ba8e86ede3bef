"""Concord JSONL: reports, batches and trace facts, one per line, in any order."""

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord.trace.report import Channel, Report, ReportBatch, StepBatch
from concord.trace.step import InteractionStep
from concord_evaluator.formats.concord_jsonl import TraceFacts, as_lines
from tests.kit.digests import digest
from tests.kit.sources import agents_of, calls_between, evaluated, read, refusal
from tests.kit.strategies import steps
from tests.kit.traces import TRACE_ID, call, model_of, observed, reported_by, roster, url_of


def report_line(report: Report, **changes: object) -> str:
    """A report in the documented form."""
    line: dict[str, Any] = {
        "reporter": report.reporter,
        "channel": report.channel,
        "step": model_of(report).spec_form(),
    }
    if report.authenticated:
        line["authenticated"] = True
    return json.dumps(line | changes)


def batch_line(reports: list[Report], **changes: object) -> str:
    """Reports of one reporter in one line."""
    steps = [model_of(report).spec_form() for report in reports]
    return json.dumps({"trace_id": TRACE_ID, "reporter": reports[0].reporter, "steps": steps} | changes)


def facts_line(**facts: object) -> str:
    return json.dumps({"trace": {"trace_id": TRACE_ID, **facts}})


def team(*agents: str) -> str:
    return facts_line(roster=[{"id": agent, "url": url_of(agent)} for agent in agents])


def lines(*each: str) -> str:
    return "\n".join(each)


def refused(*each: str) -> str:
    return refusal(lines(*each), "concord")


report_values = st.tuples(steps, st.sampled_from("ABC"), st.sampled_from(Channel), st.booleans())


@given(st.lists(report_values, max_size=10))
def test_written_reports_are_read_back(drawn_reports: list[tuple[Any, str, Channel, bool]]) -> None:
    written = [
        json.dumps(
            {
                "reporter": reporter,
                "channel": channel,
                "authenticated": authenticated,
                "step": step.model_dump(mode="json"),
            }
        )
        for step, reporter, channel, authenticated in drawn_reports
    ]
    traces = read(lines(facts_line(), *written), format_name="concord")
    read_again = {(digest(r.step), r.reporter, r.channel, r.authenticated) for trace in traces for r in trace.reports()}
    assert read_again == {
        (digest(step), reporter, channel, authenticated) for step, reporter, channel, authenticated in drawn_reports
    }
    assert sum(batch.n_steps for trace in traces for batch in trace.batches) == len(drawn_reports)
    assert {trace.trace_id for trace in traces} == {TRACE_ID} | {step.trace_id for step, *_ in drawn_reports}


def test_a_stored_trace_survives_writing_and_reading() -> None:
    (stored,) = read(lines(team("A", "B"), batch_line(reported_by("A", call("s1", "B"))[:1])), format_name="concord")
    facts = TraceFacts(trace_id=TRACE_ID, roster=list(stored.roster), task="Count.", answer="Three.")
    (again,) = read(lines(*as_lines(facts, stored.batches)))
    assert (again.task, again.answer, again.roster) == ("Count.", "Three.", stored.roster)
    assert list(again.reports()) == list(stored.reports())


def test_a_first_line_longer_than_the_inspected_head_is_recognised() -> None:
    facts = TraceFacts(trace_id=TRACE_ID, task="Review this: " * 200, answer="Done.")
    (trace,) = read(lines(*as_lines(facts, [])))
    assert trace.answer == "Done."


def test_single_reports_and_batches_yield_the_same_trace() -> None:
    reports = reported_by("A", call("s1", "B"), call("s2", "C"))
    singly = read(lines(team("A", "B", "C"), *map(report_line, reports)), format_name="concord")
    together = read(lines(team("A", "B", "C"), batch_line(reports)), format_name="concord")
    assert [evaluated(trace) for trace in singly] == [evaluated(trace) for trace in together]
    assert calls_between(singly[0]) == {("A", "B"): 1, ("A", "C"): 1}


def head_of(batch: ReportBatch) -> tuple[str, Channel, bool, int, int]:
    return batch.reporter, batch.channel, batch.authenticated, batch.n_steps, batch.dropped


@given(st.lists(steps.map(lambda step: step.model_copy(update={"trace_id": TRACE_ID})), max_size=5))
def test_a_batch_with_an_id_is_read_as_one_without(drawn: list[InteractionStep]) -> None:
    batch = StepBatch(trace_id=TRACE_ID, reporter="A", steps=drawn, dropped={"full": 2})
    written = batch.model_dump(mode="json", exclude_none=True) | {"channel": "otlp", "authenticated": True}
    with_id, without = json.dumps(written), json.dumps({k: v for k, v in written.items() if k != "batch_id"})
    (known,), (by_models,) = read(with_id, format_name="concord"), read(without, format_name="concord")
    assert [digest(each.step) for each in known.reports()] == [digest(each.step) for each in by_models.reports()]
    assert [head_of(batch) for batch in known.batches] == [head_of(batch) for batch in by_models.batches]


def test_interleaved_traces_are_separated_in_the_order_of_their_first_lines() -> None:
    reports = reported_by(
        "A", *(call(f"s{number}", "B", trace_id=f"trace-{number % 3}") for number in (2, 0, 1, 2, 1, 2))
    )
    traces = read(lines(*map(report_line, reports)))
    assert [trace.trace_id for trace in traces] == ["trace-2", "trace-0", "trace-1"]
    assert [trace.origin.line for trace in traces] == [1, 2, 3]
    assert [len(list(trace.reports())) for trace in traces] == [3, 1, 2]


def test_the_roster_may_come_after_the_steps() -> None:
    reports = list(map(report_line, reported_by("A", call("s1", "B"))))
    before, after = read(lines(team("A", "B", "C"), *reports)), read(lines(*reports, team("A", "B", "C")))
    assert agents_of(before[0]) == agents_of(after[0]) == ["A", "B", "C"]
    assert evaluated(after[0]).detail.graph_metrics.isolated_agents == ["C"]


def test_a_roster_without_steps_is_a_trace() -> None:
    [trace] = read(team("A", "B"))
    assert (evaluated(trace).detail.coordination_quality, agents_of(trace)) == ("low", ["A", "B"])


def test_task_and_success_are_taken_from_the_file() -> None:
    [trace] = read(
        lines(facts_line(task="Plan a trip.", task_success=0.5), report_line(*reported_by("A", call("s", "B"))))
    )
    assert trace.task == "Plan a trip."
    row = evaluated(trace)
    assert (row.score, row.detail.scoring.judged_by_record) == (50.0, 1)


def test_observed_reports_count_as_authenticated() -> None:
    [trace] = read(lines(team("A", "B"), *map(report_line, observed("green-agent", call("s", "B")))))
    integrity = evaluated(trace).detail.trace_integrity
    assert (integrity.steps, [report.authenticated for report in trace.reports()]) == (1, [True])


def test_dropped_steps_are_counted_in_the_row() -> None:
    [trace] = read(batch_line(reported_by("A", call("s", "B")), dropped={"full": 2, "closed": 1}))
    assert evaluated(trace).detail.trace_integrity.dropped == 3


def test_the_library_form_of_a_step_is_read() -> None:
    step = {"stepId": "s", "traceId": "t", "callType": "AGENT", "name": "B", "latency": 5}
    [trace] = read(lines(json.dumps({"reporter": "B", "step": {**step, "stepId": "r"}}), json.dumps(
        {"reporter": "A", "step": step}
    )))  # fmt: skip
    assert calls_between(trace) == {("A", "B"): 1}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("[1, 2]", "expected a report (`step`), a batch (`steps`) or facts of a trace (`trace`)"),
        ('{"reporter": "A"}', "expected a report (`step`), a batch (`steps`) or facts of a trace (`trace`)"),
        ('{"reporter": "A", "step": {}}', "step.stepId: Field required; "),
        ('{"reporter": "A", "chanel": "http", "step": {"step_id": "s", "trace_id": "t", "call_type": "TOOL"}}',
         "chanel: unknown key"),
        ('{"step": {"step_id": "s", "trace_id": "t", "call_type": "TOOL"}}', "reporter: Field required"),
        ('{"reporter": "A", "channel": "pigeon", "step": {"step_id": "s", "trace_id": "t", "call_type": "TOOL"}}',
         "channel: Input should be 'observed', 'http', 'otlp' or 'in_band'"),
        ('{"reporter": "A", "trace_id": "t", "steps": [{"step_id": "s", "trace_id": "u", "call_type": "TOOL"}]}',
         "steps[0].trace_id: belongs to trace u, not t"),
        ('{"trace": {"trace_id": "t", "task_success": 2}}', "trace.task_success: Input should be less than"),
        ('{"reporter": "A", "step": ', "invalid JSON: "),
    ],
)  # fmt: skip
def test_an_invalid_line_is_refused_with_its_number_and_the_reason(line: str, reason: str) -> None:
    assert refused(facts_line(), "", line).startswith(f"file.json:3: {reason}")


def test_the_roster_resolves_addresses_to_agents() -> None:
    reports: Iterable[Report] = reported_by("planner", call("s", "Anything", url="http://10.0.0.7:9009/"))
    entries = [entry.model_dump() for entry in roster("planner")]
    entries.append({"id": "worker", "url": "http://worker:9009", "aliases": ["http://10.0.0.7:9009"]})
    [trace] = read(lines(facts_line(roster=entries), *map(report_line, reports)))
    assert calls_between(trace) == {("planner", "worker"): 1}
