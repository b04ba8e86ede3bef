"""OTLP/JSON: the agent of each span, and the spans that are calls between agents."""

import json
import re
from base64 import b64encode
from io import BytesIO
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from concord_evaluator.formats import Source, read_traces
from tests.kit.sources import agents_of, calls_between, evaluated, read, refusal
from tests.unit.evaluator.formats.spans import TRACE, as_lines, exported, invocation, span, span_id


def calls(*exports: dict[str, Any]) -> dict[tuple[str, str], int]:
    [trace] = read(as_lines(*exports), format_name="otlp")
    return dict(calls_between(trace))


def agents(*exports: dict[str, Any]) -> list[str]:
    [trace] = read(as_lines(*exports), format_name="otlp")
    return agents_of(trace)


def test_a_parent_in_another_service_makes_a_call() -> None:
    assert calls(exported("front", span("a")), exported("back", span("b", "a"))) == {("front", "back"): 1}


def test_fetching_the_card_of_an_agent_is_no_call() -> None:
    card, sent = span("c", "a"), span("s", "c")
    card["name"] = "GET /.well-known/agent-card.json"
    ask = exported("front", span("a"))
    assert calls(ask, exported("back", card, sent, span("b", "a"))) == {("front", "back"): 1}
    assert "0 agents recognised" in refusal(as_lines(ask, exported("back", card, sent)))


@pytest.mark.parametrize(
    ("kind", "failure"),
    [
        ({"langfuse.observation.type": "agent"}, {"langfuse.observation.level": "ERROR"}),
        ({"mlflow.spanType": '"AGENT"'}, {}),
    ],
)
def test_agents_of_trace_stores_are_named_by_their_spans(kind: dict[str, str], failure: dict[str, str]) -> None:
    lead, worker = span("lead"), span("worker", "lead")
    lead["attributes"] = as_attributes(kind)
    worker |= {"attributes": as_attributes(kind | failure), "status": {} if failure else {"code": 2}}
    [trace] = read(as_lines(exported("app", lead, worker)))
    [call] = evaluated(trace).detail.trials[0].interactions
    assert (call.caller, call.callee, call.errors) == ("lead", "worker", 1)


def as_attributes(texts: dict[str, str]) -> list[dict[str, Any]]:
    return [{"key": key, "value": {"stringValue": value}} for key, value in texts.items()]


def test_one_service_without_agents_is_not_recognised() -> None:
    message = refusal(as_lines(exported("front", span("a"), span("b", "a", operation="chat"))))
    assert message == (
        "file.json: 0 agents recognised in 2 spans (1 host, 1 tool); "
        "seen: app: a (1), app: b (1); see docs/frameworks.md"
    )


def test_services_that_do_not_call_each_other_are_not_recognised() -> None:
    assert "0 agents recognised in 2 spans" in refusal(
        as_lines(exported("front", span("a")), exported("back", span("b")))
    )


def test_an_agent_invoked_under_another_is_a_call_even_in_one_service() -> None:
    export = exported("app", invocation("a", "planner"), invocation("b", "worker", "a"))
    assert (calls(export), agents(export)) == ({("planner", "worker"): 1}, ["planner", "worker"])


def test_models_and_tools_are_used_by_the_agent_above_them() -> None:
    export = exported(
        "app",
        invocation("a", "planner"),
        span("c", "a", operation="chat"),
        span("t", "a", operation="execute_tool", tool="ask"),
        invocation("b", "worker", "t"),
        span("d", "b", operation="execute_tool", tool="search"),
    )
    [trace] = read(as_lines(export))
    steps = evaluated(trace).detail.trials[0].steps
    assert calls_between(trace) == {("planner", "worker"): 1}
    assert (steps.agent, steps.tool, steps.host) == (1, 3, 1)


def test_a_service_with_one_agent_is_that_agent() -> None:
    front = exported("front", span("http"), invocation("a", "planner", "http"), span("post", "a"))
    back = exported("back", span("serve", "post"), invocation("b", "worker", "serve"))
    assert (calls(front, back), agents(front, back)) == ({("planner", "worker"): 1}, ["planner", "worker"])


def test_a_service_with_several_agents_is_no_agent_itself() -> None:
    export = exported("app", span("http"), invocation("a", "planner", "http"), invocation("b", "worker", "http"))
    assert (calls(export), agents(export)) == ({}, ["planner", "worker"])


def test_a_service_that_answers_an_agents_invocation_is_that_agent() -> None:
    front = exported(
        "front", invocation("a", "planner"), invocation("ask", "worker", "a", client=True), span("post", "ask")
    )
    back = exported("back", span("serve", "post"), span("think", "serve", operation="chat"))
    assert (calls(front, back), agents(front, back)) == ({("planner", "worker"): 1}, ["planner", "worker"])


def test_a_service_called_without_an_invocation_is_an_agent_itself() -> None:
    front = exported("front", invocation("a", "planner"), span("post", "a", client=True))
    assert calls(front, exported("store", span("get", "post"))) == {("planner", "store"): 1}


def test_internal_spans_of_the_sdk_are_left_out_with_a_warning() -> None:
    front = exported("front", span("a"))
    inside = exported("front", span("i", "a"), span("j", "i"), scope="a2a-python-sdk")
    [trace] = read(as_lines(front, inside, exported("back", span("b", "j"))))
    assert calls_between(trace) == {("front", "back"): 1}
    assert len(list(trace.reports())) == 2
    assert trace.warnings == ("2 internal spans of the a2a-python-sdk library were ignored",)


def test_a_missing_parent_makes_the_trace_incomplete() -> None:
    chain = [invocation("a", "planner"), invocation("b", "worker", "a"), invocation("c", "critic", "b")]
    [trace] = read(as_lines(exported("app", *chain, span("d", "gone"))))
    assert evaluated(trace).detail.trace_integrity.completeness == 0.75


def test_a_fragment_with_one_call_is_refused() -> None:
    known = [invocation("a", "planner"), invocation("b", "worker", "a")]
    message = refusal(as_lines(exported("app", *known, span("c", "gone"))))
    assert message == (
        f"file.json: trace {TRACE} is a fragment with 1 call: the parents of 1 of its 3 spans are missing; "
        "see docs/frameworks.md"
    )


def test_a_trace_whose_client_exports_nothing_is_no_fragment() -> None:
    assert calls(exported("app", invocation("a", "planner", "gone"), invocation("b", "worker", "a"))) == {
        ("planner", "worker"): 1
    }


def test_traces_of_one_conversation_are_joined() -> None:
    first, second = "a" * 32, "b" * 32
    spans = [invocation("a", "planner", trace=first), invocation("b", "worker", trace=second)]
    spans[1] |= {"startTimeUnixNano": "1700000001000000000", "endTimeUnixNano": "1700000002000000000"}
    for each in spans:
        each["attributes"].append({"key": "gen_ai.conversation.id", "value": {"stringValue": "talk"}})
    [trace] = read(as_lines(exported("app", *spans)))
    assert (calls_between(trace), trace.trace_id) == ({("planner", "worker"): 1}, first)
    assert "2 traces of one conversation are joined" in trace.warnings


def test_ids_in_base64_are_read() -> None:
    parent, child = invocation("a", "planner"), invocation("b", "worker", "a")
    for each in (parent, child):
        for key in ("traceId", "spanId", "parentSpanId"):
            each[key] = b64encode(bytes.fromhex(each[key])).decode()
    assert calls(exported("app", parent, child)) == {("planner", "worker"): 1}


@pytest.mark.parametrize("cycle", [["a", "b"], ["a", "b", "c"]])
def test_a_cycle_of_parents_is_left_out(cycle: list[str]) -> None:
    spans = [span(name, cycle[index - 1]) for index, name in enumerate(cycle)]
    [trace] = read(as_lines(*(exported(f"s-{each['name']}", each) for each in spans)))
    assert (calls_between(trace), evaluated(trace).detail.trace_integrity.completeness) == ({}, 0.0)


def test_a_call_whose_callee_has_spans_is_corroborated() -> None:
    [trace] = read(as_lines(exported("front", span("a")), exported("back", span("b", "a"), span("c", "b"))))
    assert evaluated(trace).detail.trace_integrity.corroborated == 1


def test_latency_and_errors_of_a_call_are_the_callees() -> None:
    failed = span("b", "a") | {"status": {"code": 2, "message": "down"}}
    [trace] = read(as_lines(exported("front", span("a")), exported("back", failed)))
    [pair] = evaluated(trace).detail.trials[0].interactions
    assert (pair.latency_avg_ms, pair.errors) == (250.0, 1)


def test_spans_of_several_traces_are_separated() -> None:
    other = "a" * 32
    traces = read(
        as_lines(exported("front", span("a"), invocation("a", "x", trace=other)), exported("back", span("b", "a")))
    )
    assert [(trace.trace_id, len(calls_between(trace))) for trace in traces] == [(TRACE, 1), (other, 0)]


def test_one_document_and_one_line_per_export_yield_the_same_trace() -> None:
    exports = [exported("front", span("a")), exported("back", span("b", "a"))]
    merged = {"resourceSpans": [group for export in exports for group in export["resourceSpans"]]}
    [from_lines], [from_document] = read(as_lines(*exports)), read(json.dumps(merged, indent=1))
    assert evaluated(from_lines) == evaluated(from_document)


def test_the_order_of_internal_spans_with_one_id_does_not_matter() -> None:
    front = exported("front", span("a"), span("b"))
    inside = [exported("front", span("i", parent), scope="a2a-python-sdk") for parent in "ab"]
    back = exported("back", span("c", "i"))
    [straight], [turned] = read(as_lines(front, *inside, back)), read(as_lines(front, *reversed(inside), back))
    assert evaluated(straight) == evaluated(turned)


names = st.sampled_from("abcdef")
some_spans = st.lists(
    st.tuples(
        st.sampled_from(["front", "back", "store"]),
        st.one_of(
            st.builds(span, names, st.just("") | names, client=st.booleans()),
            st.builds(
                invocation, names, st.sampled_from(["planner", "worker"]), st.just("") | names, client=st.booleans()
            ),
        ),
        st.sampled_from(["app", "a2a-python-sdk"]),
    ),
    min_size=1,
    max_size=8,
)


@given(some_spans, st.randoms())
def test_the_order_of_spans_does_not_matter(spans: list[tuple[str, dict[str, Any], str]], random: Random) -> None:
    team = [invocation("x", "first"), invocation("y", "second", "x"), invocation("z", "third", "y")]
    exports = [exported("app", *team)]
    exports += [exported(service, each, scope=scope) for service, each, scope in spans]
    [straight] = read(as_lines(*exports))
    random.shuffle(exports)
    [shuffled] = read(as_lines(*exports))
    assert evaluated(straight) == evaluated(shuffled)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"traceId": "W47/95gDgQPSabYzgT/GDA"}, "trace id and span id must be 16 and 8 bytes, not all zero"),
        ({"spanId": "0" * 16}, "trace id and span id must be 16 and 8 bytes, not all zero"),
        (
            {"startTimeUnixNano": "yesterday"},
            "resourceSpans[0].scopeSpans[0].spans[0]: startTimeUnixNano: no integer: 'yesterday'",
        ),
    ],
)
def test_an_invalid_span_is_refused_with_its_line(changes: dict[str, str], reason: str) -> None:
    good = exported("front", span("a"))
    message = refusal(as_lines(good, exported("back", span("b", "a") | changes)), "otlp")
    assert message.startswith(f"file.json:2: {reason}")


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('{"resourceLogs": []}', ": no spans found"),
        ('{"resourceSpans": []}', ": no spans found"),
    ],
)
def test_a_file_without_spans_is_refused(content: str, reason: str) -> None:
    assert refusal(content, "otlp") == f"file.json{reason}"


def test_steps_keep_the_ids_of_their_spans() -> None:
    [trace] = read(as_lines(exported("front", invocation("a", "planner"), span("b", "a"))))
    assert [(r.step.trace_id, r.step.step_id, r.step.parent) for r in trace.reports()] == [
        (TRACE, span_id("a"), None),
        (TRACE, span_id("b"), span_id("a")),
    ]


def test_agents_without_names_are_known_by_their_ids() -> None:
    lead, worker = span("lead"), span("worker", "lead")
    for each, number in ((lead, "asst_1"), (worker, "asst_2")):
        each["name"] = "invoke_agent"
        each["attributes"] = as_attributes({"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.id": number})
    assert calls(exported("app", lead, worker)) == {("asst_1", "asst_2"): 1}


def in_snake_case(value: Any) -> Any:  # noqa: ANN401 - any JSON
    if isinstance(value, dict):
        names = {key: re.sub(r"(?<=[a-z])([A-Z])", lambda found: f"_{found[1].lower()}", key) for key in value}
        return {names[key]: in_snake_case(each) for key, each in value.items()}
    return [in_snake_case(each) for each in value] if isinstance(value, list) else value


def test_a_file_in_snake_case_is_read_as_one_in_camel_case() -> None:
    export = exported("app", invocation("a", "lead"), invocation("b", "worker", "a"))
    [trace] = read(json.dumps(in_snake_case(export)))
    assert calls_between(trace) == {("lead", "worker"): 1}


OTHER = "11" * 16


def test_a_root_that_is_linked_to_a_span_of_another_trace_began_in_it() -> None:
    asked = invocation("b", "writer", trace=OTHER) | {"links": [{"traceId": TRACE, "spanId": span_id("a")}]}
    [trace] = read(as_lines(exported("app", invocation("a", "planner"), asked)))
    assert calls_between(trace) == {("planner", "writer"): 1}


def test_a_link_to_a_trace_that_the_file_does_not_have_joins_nothing() -> None:
    asked = invocation("b", "writer", trace=OTHER) | {"links": [{"traceId": "22" * 16, "spanId": span_id("a")}]}
    traces = read(as_lines(exported("app", invocation("a", "planner"), asked)))
    assert [agents_of(trace) for trace in traces] == [["planner"], ["writer"]]


def test_two_runs_of_one_user_s_session_are_two_traces_unless_sessions_are_joined() -> None:
    runs = [invocation("a", "lead"), invocation("b", "worker", "a")]
    runs += [invocation("a", "lead", trace=OTHER), invocation("b", "worker", "a", trace=OTHER)]
    for each in runs:
        each["attributes"] += as_attributes({"session.id": "user-7"})
    content = as_lines(exported("app", *runs))
    assert [dict(calls_between(trace)) for trace in read(content)] == [{("lead", "worker"): 1}] * 2
    [joined] = read_traces(Source("file.json", BytesIO(content.encode()), joins_sessions=True))
    assert "2 traces of one conversation are joined" in joined.warnings
