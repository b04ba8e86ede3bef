"""The law on reported steps: in whatever form a step comes, its values are stored; each bad one alone is refused."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from concord.trace.report import StepBatch
from concord.trace.step import AgentInvocation, CallType, InteractionStep, ResponseTrace, StepAction, ToolInvocation
from concord_collector.traces import BadBatchError, parse_batch

Raw = dict[str, Any]
Spelling = Callable[[Raw], Raw]

TRACE = "0af7651916cd43dd8448eb211c80319c"
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
ids = st.text("abc-", min_size=1, max_size=9) | st.integers(0, 10**9).map(str)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)
objects = st.none() | st.dictionaries(texts, json_values, max_size=3)
counts = st.none() | st.integers(0, 2**63 - 1)
moments = st.none() | st.integers(1, 7 * 10**15).map(
    lambda us: datetime.fromtimestamp(0, UTC) + timedelta(microseconds=us)
)


def steps_with(answers: st.SearchStrategy[ResponseTrace | None]) -> st.SearchStrategy[InteractionStep]:
    calls = st.tuples(texts, texts, objects, answers).map(
        lambda told: AgentInvocation(agent_url=told[0], agent_name=told[1], requests=told[2], response_trace=told[3])
    )
    tools = st.tuples(texts, objects).map(lambda told: ToolInvocation(tool_name=told[0], parameters=told[1]))
    actions = calls.map(lambda call: StepAction(agent_invocation=call)) | tools.map(
        lambda tool: StepAction(tool_invocation=tool)
    )
    fields = {
        "step_id": ids,
        "parent_step_id": st.none() | st.just("") | ids,
        "call_type": st.sampled_from(CallType),
        "step_action": st.none() | actions,
        "cost": counts,
        "total_tokens": counts,
        "additional_attributes": st.dictionaries(texts, texts | st.integers().map(str), max_size=3),
        "latency": counts,
        "start_time": moments,
        "end_time": moments,
        "error": json_values,
        "name": st.none() | texts,
        "parameters": objects,
        "requests": objects,
    }
    return st.fixed_dictionaries(fields).map(lambda told: InteractionStep(trace_id=TRACE, **told))


def answers_with(steps: st.SearchStrategy[InteractionStep]) -> st.SearchStrategy[ResponseTrace | None]:
    told = st.tuples(ids, st.lists(steps, min_size=1, max_size=2))
    return st.none() | told.map(lambda told: ResponseTrace(trace_id=told[0], steps=told[1]))


steps = steps_with(answers_with(steps_with(answers_with(steps_with(st.none())))))

# Spellings of a step, each with the same meaning. They change the steps in answers too.


def each_step(change: Spelling) -> Spelling:
    def changed(step: Raw) -> Raw:
        told = change(step)
        call = (told.get("step_action") or {}).get("agent_invocation") or {}
        if call.get("response_trace") is None:
            return told
        inner = {**call["response_trace"], "steps": [changed(each) for each in call["response_trace"]["steps"]]}
        return {**told, "step_action": {"agent_invocation": {**call, "response_trace": inner}}}

    return changed


def in_camel_case(step: Raw) -> Raw:
    """All fields of the form, but not the keys of free content."""
    told = {to_camel(name): value for name, value in step.items()}
    for invocation in ("agent_invocation", "tool_invocation"):
        if (used := (step.get("step_action") or {}).get(invocation)) is not None:
            camel = {to_camel(name): value for name, value in used.items()}
            if (answer := used.get("response_trace")) is not None:
                camel["responseTrace"] = {
                    "traceId": answer["trace_id"],
                    "steps": list(map(in_camel_case, answer["steps"])),
                }
            told["stepAction"] = {to_camel(invocation): camel}
    return told


def with_text_numbers(step: Raw) -> Raw:
    numbers = {"cost", "total_tokens", "latency"}
    return {name: str(value) if name in numbers and value is not None else value for name, value in step.items()}


def with_numbers_as_texts(step: Raw) -> Raw:
    """Ids and attributes that read as integers, as integers."""
    told = {name: _number(step[name]) for name in ("step_id", "parent_step_id") if step.get(name)}
    attributes = {name: _number(value) for name, value in step["additional_attributes"].items()}
    return {**step, **told, "additional_attributes": attributes}


def _number(text: str) -> str | int:
    return int(text) if text.isascii() and text.isdigit() and str(int(text)) == text else text


def with_epochs(step: Raw) -> Raw:
    """Whole seconds since 1970; times with fractions stay."""
    return step | {name: _epoch(step[name]) for name in ("start_time", "end_time") if step.get(name)}


def _epoch(text: str) -> str | int:
    return text if "." in text else int(datetime.fromisoformat(text).timestamp())


def with_nine_digits(step: Raw) -> Raw:
    """Fractions of a second as Go writes them, which round to the same microsecond."""
    return step | {name: _nine_digits(step[name]) for name in ("start_time", "end_time") if step.get(name)}


def _nine_digits(text: str | int) -> str | int:
    if isinstance(text, int):  # whole seconds since 1970, of another spelling
        return text
    nearest = datetime.fromisoformat(text)
    below = nearest - timedelta(microseconds=1)
    return f"{below.strftime('%Y-%m-%dT%H:%M:%S')}.{below.microsecond:06d}500Z"


def with_unknown_fields(step: Raw) -> Raw:
    return {"step_type": 3, **step, "vendor": {"nested": [{}]}}


def with_nulls(step: Raw) -> Raw:
    return dict.fromkeys(("cost", "latency", "error", "start_time"), None) | step


SPELLINGS: tuple[Spelling, ...] = (
    *map(each_step, (with_text_numbers, with_numbers_as_texts, with_epochs, with_nine_digits)),
    *map(each_step, (with_unknown_fields, with_nulls)),
)


def spelled(step: InteractionStep, spellings: list[Spelling], *, camel: bool) -> Raw:
    raw: Raw = json.loads(step.model_dump_json(exclude_none=True))
    for spelling in spellings:
        raw = spelling(raw)
    return in_camel_case(raw) if camel else raw


spelled_steps = st.tuples(steps, st.lists(st.sampled_from(SPELLINGS), max_size=3, unique=True), st.booleans()).map(
    lambda drawn: (drawn[0], spelled(drawn[0], drawn[1], camel=drawn[2]))
)

GOOD = {"step_id": "good", "trace_id": TRACE, "call_type": "TOOL"}
INNER = {"agent_invocation": {"response_trace": {"trace_id": "t", "steps": [GOOD, GOOD | {"latency": -1}]}}}
BAD: dict[str, tuple[Any, str, str | None]] = {
    "no object": (7, "", None),
    "no id": ({"trace_id": TRACE, "call_type": "TOOL"}, "step_id", None),
    "empty id": (GOOD | {"step_id": ""}, "step_id", ""),
    "long id": (GOOD | {"step_id": "x" * 65}, "step_id", "x" * 64),
    "no trace": ({"step_id": "s", "call_type": "TOOL"}, "trace_id", "s"),
    "long parent": (GOOD | {"parent_step_id": "x" * 65}, "parent_step_id", "good"),
    "unknown kind": (GOOD | {"call_type": "PHONE"}, "call_type", "good"),
    "cost beyond 64 bits": (GOOD | {"cost": 2**63}, "cost", "good"),
    "negative latency": (GOOD | {"latency": -1}, "latency", "good"),
    "fraction of a token": (GOOD | {"total_tokens": 1.5}, "total_tokens", "good"),
    "no time": (GOOD | {"start_time": "yesterday"}, "start_time", "good"),
    "long attribute": (GOOD | {"additional_attributes": {"k": "x" * 8193}}, "additional_attributes.k", "good"),
    "many attributes": (
        GOOD | {"additional_attributes": {str(n): "" for n in range(65)}}, "additional_attributes", "good"
    ),
    "parameters in a list": (GOOD | {"parameters": []}, "parameters", "good"),
    "nameless tool": (
        GOOD | {"step_action": {"tool_invocation": {}}}, "step_action.tool_invocation.tool_name", "good"
    ),
    "long URL": (
        GOOD | {"step_action": {"agent_invocation": {"agent_url": "x" * 3000}}},
        "step_action.agent_invocation.agent_url", "good",
    ),
    "bad step in an answer": (
        GOOD | {"step_action": INNER}, "step_action.agent_invocation.response_trace.steps.1.latency", "good"
    ),
    "other trace": (GOOD | {"trace_id": "other"}, "trace_id", "good"),
}  # fmt: skip
"""Steps that are refused, each with the field that its refusal names and the id that it shows."""


def body(raw: list[Any], **head: Any) -> bytes:  # noqa: ANN401 - JSON
    return json.dumps({"batch_id": "b", "trace_id": TRACE, "reporter": "r", "steps": raw} | head).encode()


def in_either_case(field: str) -> str:
    """A field that is absent is named in camelCase, and a bad one as it was sent."""
    return field.replace("_", "").lower()


def answered(step: InteractionStep) -> int:
    """The number of the steps in an answer, at any depth."""
    call = step.step_action.agent_invocation if step.step_action is not None else None
    if step.kind is not CallType.AGENT or call is None or call.response_trace is None:
        return 0
    return sum(1 + answered(each) for each in call.response_trace.steps)


@given(st.lists(spelled_steps, max_size=4), st.dictionaries(texts, st.integers(0, 9), max_size=2))
def test_a_step_is_stored_with_its_values_in_whatever_form_it_comes(
    sent: list[tuple[InteractionStep, Raw]], dropped: dict[str, int]
) -> None:
    parsed = parse_batch(body([raw for _, raw in sent], dropped=dropped))
    stored = StepBatch.model_validate_json(parsed.body)
    assert stored.steps == [step for step, _ in sent]
    assert (stored.batch_id, stored.trace_id, stored.reporter, stored.dropped) == ("b", TRACE, "r", dropped)
    assert (parsed.batch_id, parsed.trace_id, parsed.reporter) == ("b", TRACE, "r")
    assert (parsed.n_steps, parsed.dropped, parsed.rejected) == (len(sent), sum(dropped.values()), ())
    assert parsed.n_nested == sum(answered(step) for step, _ in sent)


@given(st.lists(spelled_steps | st.sampled_from(sorted(BAD)), max_size=6))
def test_each_bad_step_alone_is_refused_with_its_index_and_its_field(
    sent: list[tuple[InteractionStep, Raw] | str],
) -> None:
    parsed = parse_batch(body([BAD[each][0] if isinstance(each, str) else each[1] for each in sent]))
    assert StepBatch.model_validate_json(parsed.body).steps == [each[0] for each in sent if not isinstance(each, str)]
    bad = [(index, *BAD[each][1:]) for index, each in enumerate(sent) if isinstance(each, str)]
    assert [(each.index, each.step_id) for each in parsed.rejected] == [(index, step_id) for index, _, step_id in bad]
    for refusal, (_, field, _) in zip(parsed.rejected, bad, strict=True):
        assert in_either_case(refusal.reason.split(" ")[0].rstrip(":")) == in_either_case(field) or not field
    assert parsed.n_foreign == sent.count("other trace")


@pytest.mark.parametrize(
    ("head", "field"),
    [
        ({"trace_id": ""}, "trace_id"),
        ({"trace_id": None}, "trace_id"),
        ({"reporter": "x" * 65}, "reporter"),
        ({"batch_id": ""}, "batch_id"),
        ({"steps": {}}, "steps"),
        ({"steps": [GOOD] * 1001}, "steps"),
        ({"dropped": {"late": -1}}, "dropped.late"),
        ({"dropped": {str(n): 1 for n in range(17)}}, "dropped"),
    ],
)  # fmt: skip
def test_a_bad_head_refuses_the_batch_and_names_the_field(head: Raw, field: str) -> None:
    with pytest.raises(BadBatchError, match=rf"^{field}: "):
        parse_batch(body([GOOD], **head))


def test_a_batch_without_an_id_gets_one() -> None:
    parsed = parse_batch(json.dumps({"trace_id": TRACE, "reporter": "r", "steps": [GOOD]}).encode())
    assert parsed.batch_id
    assert StepBatch.model_validate_json(parsed.body).batch_id == parsed.batch_id


@pytest.mark.parametrize("depth", [1, 5, 39])
def test_steps_in_answers_are_read_at_any_depth_to_which_json_is(depth: int) -> None:
    parsed = parse_batch(body([nested(depth)]))
    assert (parsed.n_steps, parsed.n_nested) == (1, depth)


def test_steps_in_answers_beyond_that_depth_refuse_the_batch() -> None:
    with pytest.raises(BadBatchError, match="recursion"):
        parse_batch(body([nested(40)]))


def nested(depth: int) -> Raw:
    step: Raw = GOOD | {"call_type": "AGENT"}
    for _ in range(depth):
        answer = {"trace_id": "t", "steps": [step]}
        step = GOOD | {"call_type": "AGENT", "step_action": {"agent_invocation": {"response_trace": answer}}}
    return step


def test_content_is_read_to_the_depth_to_which_json_is() -> None:
    assert parse_batch(with_content_of_depth(198)).n_steps == 1
    with pytest.raises(BadBatchError, match="recursion"):
        parse_batch(with_content_of_depth(199))


def with_content_of_depth(depth: int) -> bytes:
    return body([GOOD | {"error": 1}]).replace(b'"error": 1', b'"error": ' + b"[" * depth + b"]" * depth)
