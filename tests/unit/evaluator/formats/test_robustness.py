"""Robustness of the readers: any file is read, or refused with a FormatError."""

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from concord_evaluator.formats import FormatError
from tests.kit.digests import digest
from tests.kit.failed_runs import message
from tests.kit.sources import read, read_past_faults
from tests.unit.evaluator.formats.spans import as_lines, exported, invocation, span
from tests.unit.evaluator.formats.test_a2a import SPEC
from tests.unit.evaluator.formats.test_cooperbench import run
from tests.unit.evaluator.formats.test_marble import RECORDS
from tests.unit.evaluator.formats.test_registry import EXAMPLES

pytestmark = pytest.mark.usefixtures("research_formats")

KEYS = re.findall(
    r"\w+",
    """
    trace_id traceId steps reporter channel authenticated dropped step step_id stepId parent_step_id call_type callType
    step_action agent_invocation agent_name agent_url requests response_trace additional_attributes latency error name
    start_time end_time trace roster id url aliases task task_success
    iterations communications task_assignments agent_kpis
    conversation from to message timestamp kind eval both_passed result agents features
    resourceSpans resource attributes key value stringValue intValue scopeSpans scope spans spanId parentSpanId
    startTimeUnixNano endTimeUnixNano status code
    """,
)
SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["AGENT", "TOOL", "HOST", "http", "a" * 16, "a" * 32, "In Session 1 \nFrom a to b: c", "9" * 5000]),
    st.sampled_from(
        ["2026-01-01T00:00:00Z", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "http://[", "x" * 70]
    ),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KEYS), inner, max_size=6),
    max_leaves=30,
)
CELLS = st.sampled_from(
    ["", "root", "a" * 32, "b" * 16, "shop-579b9bff58-t2dbm", "1", "-1", "1e9", '"', "9" * 30, "\0", "é"]
)

in_every_format = pytest.mark.parametrize("name", sorted(EXAMPLES))


VALID: dict[str, Any] = {
    "a2a": SPEC,
    "concord": {"trace_id": "t", "reporter": "A", "channel": "http", "dropped": {"full": 1}, "steps": SPEC["steps"]},
    "cooperbench": json.loads(run(message("one", "two", "x"))),
    "marble": RECORDS[0],
    "otlp": exported("front", invocation("a", "planner"), invocation("b", "worker", "a")),
}


def places(value: object) -> Iterator[tuple[str | int, ...]]:
    """The paths of all parts of a JSON value, itself first."""
    yield ()
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, part in parts:
        yield from ((key, *path) for path in places(part))


def replaced(value: Any, place: tuple[str | int, ...], part: object) -> Any:  # noqa: ANN401 - any JSON
    """The value with the part at one path replaced."""
    if not place:
        return part
    copy = value.copy()
    copy[place[0]] = replaced(value[place[0]], place[1:], part)
    return copy


def read_or_refuse(content: str | bytes, name: str) -> None:
    """Reads a file to its last report, up to the first fault and then past all faults; a FormatError is allowed."""
    for read_all in (read, lambda *arguments: read_past_faults(*arguments)[0]):
        with suppress(FormatError):
            for trace in read_all(content, "file.json", name):
                assert 1 <= len(trace.trace_id) <= 64
                for report in trace.reports():
                    assert digest(report.step)


@cache
def mutated(example: str) -> st.SearchStrategy[bytes]:
    """The example with a few bytes changed, removed or inserted."""
    content = example.encode()
    edits = st.lists(st.tuples(st.integers(0, len(content)), st.integers(0, 9), st.binary(max_size=4)), max_size=4)

    def apply(changes: list[tuple[int, int, bytes]]) -> bytes:
        changed = content
        for place, cut, put in changes:
            changed = changed[:place] + put + changed[place + cut :]
        return changed

    return edits.map(apply)


@given(content=st.binary(max_size=1500))
def test_any_bytes_are_read_or_refused_in_every_format(content: bytes) -> None:
    for name in sorted(EXAMPLES):
        note(name)
        read_or_refuse(content, name)


@given(documents=st.lists(DOCUMENTS, min_size=1, max_size=3))
def test_any_json_is_read_or_refused_in_every_format(documents: list[object]) -> None:
    """One drawing serves all formats, since drawing takes far longer than reading."""
    content = "\n".join(map(json.dumps, documents))
    for name in sorted(EXAMPLES):
        note(name)
        read_or_refuse(content, name)


@cache
def places_in(name: str) -> st.SearchStrategy[tuple[str | int, ...]]:
    """Any place in the valid document of a format."""
    return st.sampled_from(list(places(VALID[name])))


@pytest.mark.parametrize("name", sorted(VALID))
@settings(max_examples=80)
@given(data=st.data())
def test_documents_with_one_part_replaced_are_read_or_refused(name: str, data: st.DataObject) -> None:
    place = data.draw(places_in(name))
    read_or_refuse(json.dumps(replaced(VALID[name], place, data.draw(DOCUMENTS))), name)


@pytest.mark.parametrize("name", sorted(VALID))
def test_valid_documents_are_read(name: str) -> None:
    assert [len(list(trace.reports())) > 0 for trace in read(json.dumps(VALID[name]), format_name=name)] == [True]


@cache
def mutated_examples(name: str) -> st.SearchStrategy[bytes]:
    """Any mutated example of a format, or of OTLP."""
    whole = [*EXAMPLES[name], as_lines(exported("s", span("a"), span("b", "a")))]
    return st.sampled_from(whole).flatmap(mutated)


@in_every_format
@given(data=st.data())
def test_mutated_files_are_read_or_refused(name: str, data: st.DataObject) -> None:
    read_or_refuse(data.draw(mutated_examples(name)), name)


@given(st.lists(st.lists(CELLS, min_size=8, max_size=8), max_size=4))
def test_any_csv_table_is_read_or_refused(rows: list[list[str]]) -> None:
    read_or_refuse("\n".join([EXAMPLES["spans"][0].strip(), *map(",".join, rows)]), "spans")


@in_every_format
def test_a_deeply_nested_document_is_read_or_refused(name: str) -> None:
    read_or_refuse('{"steps": [' * 5000, name)
    read_or_refuse('{"steps": [' * 90 + "]}" * 90, name)
