"""Faults: an unreadable record is reported with its line and affects no other record."""

import json
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.formats import FormatError, Source, Trace
from tests.kit.failed_runs import message
from tests.kit.sources import read, read_past_faults, refusal, source
from tests.unit.evaluator.formats.spans import exported, invocation, span
from tests.unit.evaluator.formats.test_cooperbench import run
from tests.unit.evaluator.formats.test_marble import TALK, record, session
from tests.unit.evaluator.formats.test_span_csv import HEADER

pytestmark = pytest.mark.usefixtures("research_formats")

StepKey = tuple[str, str, str]

STEP = {"trace_id": "t", "call_type": "AGENT", "name": "other"}

LINES: dict[str, list[str]] = {
    "a2a": [json.dumps({"trace_id": "t", "steps": [{**STEP, "step_id": f"s{n}"}]}) for n in range(4)],
    "concord": [json.dumps({"reporter": "a", "step": {**STEP, "step_id": f"s{n}"}}) for n in range(4)],
    "cooperbench": [json.dumps(json.loads(run(message("one", "two", f"{n}")))) for n in range(4)],
    "marble": [json.dumps(record([session(*TALK)])) for _ in range(4)],
    "otlp": [json.dumps(exported(f"app{n}", invocation(f"{n}a", "planner"), span(f"{n}b", f"{n}a"))) for n in range(4)],
    "spans": [f"{'a' * 32},{n}{'b' * 15},root,shop,get,{n},{n + 5},5" for n in range(4)],
}
"""Readable records by format, one per line."""

BROKEN: dict[str, list[str]] = {
    "a2a": ['{"trace_id": "t", "steps": [', '{"trace_id": "t", "steps": [{"step_id": "bad"}]}', '{"nothing": 1}'],
    "concord": ['{"reporter": "a", "st', '{"reporter": "a", "step": {"step_id": 7}}', '{"nothing": 1}'],
    "cooperbench": ['{"conversation": ', '{"conversation": [{"from": "one"}]}', '{"nothing": 1}'],
    "marble": ['{"task": "x", "iterations": [{', '{"task": "x"}', '{"nothing": 1}'],
    "otlp": ['{"resourceSpans": [', '{"resourceSpans": 5}', '{"nothing": 1}'],
    "spans": ["one,two", f"{'a' * 32},b,root,shop,get,one,5,5", '"'],
}

broken_lines = pytest.mark.parametrize(
    ("name", "broken"), [(name, broken) for name, lines in BROKEN.items() for broken in lines]
)


def file_of(name: str, lines: list[str]) -> str:
    return "\n".join([HEADER, *lines] if name == "spans" else lines)


def steps_in(traces: list[Trace]) -> list[StepKey]:
    """Every reported step, by trace and reporter."""
    return sorted(
        (trace.trace_id, report.reporter, report.step.step_id) for trace in traces for report in trace.reports()
    )


@broken_lines
@given(place=st.integers(0, 4))
def test_every_other_record_is_read_wherever_the_broken_one_is(name: str, broken: str, place: int) -> None:
    good = LINES[name]
    traces, faults = read_past_faults(file_of(name, [*good[:place], broken, *good[place:]]), "runs.jsonl", name)
    whole = read(file_of(name, good), "runs.jsonl", name)
    assert len(steps_in(traces)) == len(steps_in(whole)) > 0
    assert [reporter for _, reporter, _ in steps_in(traces)] == [reporter for _, reporter, _ in steps_in(whole)]
    line = place + (2 if name == "spans" else 1)
    assert [fault.startswith(f"runs.jsonl:{line}: ") for fault in faults] == [True]


@broken_lines
def test_every_fault_is_reported_with_its_line(name: str, broken: str) -> None:
    good, bad = LINES[name], BROKEN[name]
    _, faults = read_past_faults(file_of(name, [good[0], bad[0], good[1], broken, bad[2]]), "runs.jsonl", name)
    first = 3 if name == "spans" else 2
    assert [fault.split(": ")[0] for fault in faults] == [f"runs.jsonl:{first + n}" for n in (0, 2, 3)]


@broken_lines
def test_without_a_fault_handler_the_first_fault_ends_reading(name: str, broken: str) -> None:
    content = file_of(name, [LINES[name][0], broken, *BROKEN[name]])
    _, (first, *_) = read_past_faults(content, "file.json", name)
    assert refusal(content, name) == first


@pytest.mark.parametrize("name", ["cooperbench", "marble"])
def test_traces_of_one_record_are_named_by_line_even_after_faults(name: str) -> None:
    good, (torn, wrong, _) = LINES[name], BROKEN[name]
    traces, _ = read_past_faults(file_of(name, [good[0], torn, wrong, good[1]]), "runs.jsonl", name)
    assert [(trace.trace_id, trace.origin.line) for trace in traces] == [("runs#1", 1), ("runs#4", 4)]
    assert not any("could not be read" in warning for trace in traces for warning in trace.warnings)


@pytest.mark.parametrize("name", ["a2a", "concord", "otlp", "spans"])
def test_a_trace_of_several_records_warns_of_missing_ones(name: str) -> None:
    traces, _ = read_past_faults(file_of(name, [*LINES[name][:2], *BROKEN[name][:2]]), "runs.jsonl", name)
    assert [trace.warnings[-1] for trace in traces] == [
        "2 records of the file could not be read, so this trace may be incomplete"
    ]
    assert "could not be read" not in str(read(file_of(name, LINES[name]), "runs.jsonl", name)[0].warnings)


def test_no_part_of_a_broken_record_is_used() -> None:
    step = {"step_id": "1", **STEP}
    half = {"reporter": "b", "trace_id": "t", "steps": [step, {**step, "step_id": "2", "trace_id": "u"}]}
    traces, faults = read_past_faults(file_of("concord", [*LINES["concord"], json.dumps(half)]), format_name="concord")
    assert ([trace.trace_id for trace in traces], len(faults)) == (["t"], 1)
    assert {report.reporter for report in traces[0].reports()} == {"a"}

    names = [{**step, "step_id": "x", "name": name} for name in ("fine", "x" * 1001)]
    two = [{"trace_id": "new", "steps": names[:1]}, {"trace_id": "t", "steps": names}]
    traces, faults = read_past_faults(file_of("a2a", [*LINES["a2a"], json.dumps({"answers": two})]), format_name="a2a")
    assert ([trace.trace_id for trace in traces], len(faults)) == (["t"], 1)
    assert {entry.id for entry in traces[0].roster} == {"file", "other"}


def test_an_invalid_span_leaves_the_other_spans_of_its_trace() -> None:
    line = json.dumps(exported("app", invocation("a", "planner"), span("b", "a"), span("c" * 70, "a")))
    [trace], faults = read_past_faults(line, format_name="otlp")
    assert (len(steps_in([trace])), len(faults)) == (2, 1)


@given(st.lists(st.booleans(), min_size=1, max_size=6))
def test_unreadable_values_are_numbered_too(sound: list[bool]) -> None:
    content = "\n".join('{"a": 1}' if each else '{"a": ' for each in ["{}", *sound])
    reading = Source("file", BytesIO(content.encode()), on_fault=lambda _: None)
    numbers = [record.number for record in reading.json_records()]
    assert numbers == [1, *(number for number, each in enumerate(sound, 2) if each)]


@pytest.mark.parametrize("content", ['{\n"a": 1,\n"b": \n}', '[\n{"a": 1},\n{"b": }\n]', '{"a":\n[1]\n', "{\n\n}}"])
def test_a_broken_document_over_many_lines_is_one_fault(content: str) -> None:
    with pytest.raises(FormatError):
        list(source(content).json_values())


def test_a_document_whose_second_line_is_an_object_is_read_whole() -> None:
    assert list(source('[\n{"a": 1}\n]').json_values()) == [(1, {"a": 1})]
