"""What was said in a span, in every convention: the same texts, whichever attributes and events tell them."""

import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import JsonValue

from concord.trace.otlp.content import Content, Event, as_attribute_text, with_content
from concord.trace.otlp.content.content import MAX_TEXT, UNKNOWN, read_content
from concord.trace.otlp.content.messages import Message, messages_of, read_messages, unflattened
from concord.trace.otlp.genai import CONTENT

HUMAN = {"type": "human", "content": "Where to?", "id": "1"}
CALLS = {"type": "ai", "content": "", "tool_calls": [{"name": "search", "args": {"q": "coast"}, "id": "c"}]}
TOOL = {"type": "tool", "content": "Bergen", "name": "search", "tool_call_id": "c"}
AI = {"type": "ai", "content": "To Bergen."}

MODELS: dict[str, dict[str, Any]] = {
    "OpenTelemetry": {
        "gen_ai.operation.name": "chat",
        "gen_ai.input.messages": json.dumps(
            [
                {"role": "system", "parts": [{"type": "text", "content": "Be brief."}]},
                {"role": "user", "parts": [{"type": "text", "content": "Where to?"}]},
            ]
        ),
        "gen_ai.output.messages": json.dumps(
            [{"role": "assistant", "parts": [{"type": "text", "content": "To Bergen."}], "finish_reason": "stop"}]
        ),
    },
    "OpenInference": {
        "openinference.span.kind": "LLM",
        "llm.input_messages.0.message.role": "user",
        "llm.input_messages.0.message.content": "Where to?",
        "llm.output_messages.0.message.role": "assistant",
        "llm.output_messages.0.message.contents.0.message_content.type": "text",
        "llm.output_messages.0.message.contents.0.message_content.text": "To Bergen.",
        "llm.finish_reason": "stop",
    },
    "OpenLLMetry, old": {
        "gen_ai.operation.name": "chat",
        "gen_ai.prompt.0.role": "user",
        "gen_ai.prompt.0.content": "Where to?",
        "gen_ai.completion.0.role": "assistant",
        "gen_ai.completion.0.content": "To Bergen.",
        "gen_ai.completion.0.finish_reason": "stop",
    },
    "langsmith": {
        "langsmith.span.kind": "llm",
        "gen_ai.prompt": json.dumps({"messages": [[{"lc": 1, "id": ["HumanMessage"], "kwargs": HUMAN}]]}),
        "gen_ai.completion": json.dumps(
            {"generations": [[{"text": "To Bergen.", "message": {"lc": 1, "kwargs": AI}, "finish_reason": "stop"}]]}
        ),
    },
    "Langfuse": {
        "langfuse.observation.type": "generation",
        "langfuse.observation.input": json.dumps([{"role": "user", "content": "Where to?"}]),
        "langfuse.observation.output": json.dumps(
            {"role": "assistant", "content": "To Bergen.", "finish_reason": "stop"}
        ),
    },
    "MLflow": {
        "mlflow.spanType": '"CHAT_MODEL"',
        "mlflow.spanInputs": json.dumps({"messages": [{"role": "user", "content": "Where to?"}]}),
        "mlflow.spanOutputs": json.dumps(
            {"choices": [{"message": {"role": "assistant", "content": "To Bergen."}, "finish_reason": "stop"}]}
        ),
    },
    "Vercel": {
        "ai.operationId": "ai.generateText.doGenerate",
        "ai.prompt.messages": json.dumps([{"role": "user", "content": [{"type": "text", "text": "Where to?"}]}]),
        "ai.response.text": "To Bergen.",
        "ai.response.finishReason": "stop",
    },
    "Google ADK": {
        "gen_ai.operation.name": "generate_content",
        "gcp.vertex.agent.llm_request": json.dumps(
            {"model": "m", "config": {}, "contents": [{"role": "user", "parts": [{"text": "Where to?"}]}]}
        ),
        "gcp.vertex.agent.llm_response": json.dumps(
            {"content": {"role": "model", "parts": [{"text": "To Bergen."}]}, "finish_reason": "stop"}
        ),
    },
}

TOOLS: dict[str, dict[str, Any]] = {
    "OpenTelemetry": {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.call.arguments": '{"q": "coast"}',
        "gen_ai.tool.call.result": "Bergen",
    },
    "OpenInference": {"openinference.span.kind": "TOOL", "input.value": '{"q": "coast"}', "output.value": "Bergen"},
    "OpenLLMetry": {
        "traceloop.span.kind": "tool",
        "traceloop.entity.input": json.dumps({"input_str": '{"q": "coast"}', "tags": [], "metadata": {}}),
        "traceloop.entity.output": json.dumps({"output": {"lc": 1, "kwargs": TOOL}, "kwargs": {"name": "search"}}),
    },
    "Langfuse": {
        "langfuse.observation.type": "tool",
        "langfuse.observation.input": '{"q": "coast"}',
        "langfuse.observation.output": json.dumps(TOOL),
    },
    "MLflow": {
        "mlflow.spanType": '"TOOL"',
        "mlflow.spanInputs": '{"q": "coast"}',
        "mlflow.spanOutputs": '"Bergen"',
    },
    "smolagents": {
        "openinference.span.kind": "TOOL",
        "input.value": json.dumps({"args": [], "sanitize_inputs_outputs": True, "kwargs": {"q": "coast"}}),
        "output.value": "Bergen",
    },
    "Vercel": {"ai.operationId": "ai.toolCall", "ai.toolCall.args": '{"q":"coast"}', "ai.toolCall.result": '"Bergen"'},
}


class TestEveryConvention:
    @pytest.mark.parametrize("convention", MODELS)
    def test_tells_what_a_model_was_asked_and_answered(self, convention: str) -> None:
        content = read_content(MODELS[convention])
        assert (content.input, content.output, content.finish) == ("Where to?", "To Bergen.", "stop")

    @pytest.mark.parametrize("convention", TOOLS)
    def test_tells_the_arguments_and_the_result_of_a_tool(self, convention: str) -> None:
        content = read_content(TOOLS[convention])
        assert (json.loads(content.input), content.output, content.error) == ({"q": "coast"}, "Bergen", "")

    @pytest.mark.parametrize(
        "events",
        [
            [("gen_ai.user.message", {"content": "Where to?"}), ("gen_ai.choice", {"message": "To Bergen."})],
            [
                ("gen_ai.user.message", {"gen_ai.event.content": '{"content": "Where to?"}'}),
                ("gen_ai.choice", {"index": 0, "message": {"role": "assistant", "content": "To Bergen."}}),
            ],
            [
                ("gen_ai.content.prompt", {"gen_ai.prompt": '[{"role": "user", "content": "Where to?"}]'}),
                ("gen_ai.content.completion", {"gen_ai.completion": '[{"role":"assistant","content":"To Bergen."}]'}),
            ],
            [("gen_ai.client.inference.operation.details", MODELS["OpenTelemetry"])],
        ],
    )
    def test_may_tell_it_in_events(self, events: list[Event]) -> None:
        content = read_content({"gen_ai.operation.name": "chat"}, events)
        assert (content.input, content.output) == ("Where to?", "To Bergen.")


class TestAnAgent:
    def test_was_asked_by_the_last_message_of_the_user_and_by_what_followed(self) -> None:
        told = {"input.value": json.dumps({"messages": [HUMAN, CALLS, TOOL]}), "openinference.span.kind": "CHAIN"}
        assert read_content(told).input == "Where to?\n\nBergen"

    def test_answered_with_the_last_message_of_a_state(self) -> None:
        told = {"output.value": json.dumps({"messages": [HUMAN, CALLS, TOOL, AI]})}
        assert read_content(told).output == "To Bergen."

    def test_that_only_repeats_its_input_answered_nothing(self) -> None:
        assert read_content({"output.value": json.dumps({"messages": [HUMAN]})}).output == ""

    def test_was_not_asked_by_its_own_answer(self) -> None:
        whole = json.dumps([{"role": "user", "content": "Where to?"}, {"role": "assistant", "content": "To Bergen."}])
        told = {"pydantic_ai.all_messages": whole, "final_result": "To Bergen."}
        assert read_content(told).input == "Where to?"

    def test_that_answers_in_json_is_quoted_as_it_is(self) -> None:
        assert read_content({"output.value": '{"answer": 42, "sources": []}'}).output == '{"answer": 42, "sources": []}'

    def test_asked_the_same_after_other_messages_was_not_asked_the_same(self) -> None:
        first, second = (
            read_content({"input.value": json.dumps([{"role": "assistant", "content": text}, HUMAN])})
            for text in ("A plan.", "A better plan.")
        )
        assert first.input == second.input
        assert first.before != second.before


class TestACutAttribute:
    CUT = json.dumps({"messages": [HUMAN, AI, {"type": "ai", "content": "To Oslo, in the end."}]})[:-30]

    def test_does_not_tell_the_last_message(self) -> None:
        assert read_content({"output.value": self.CUT}).output == ""

    def test_tells_what_the_user_asked_and_that_the_rest_is_unknown(self) -> None:
        content = read_content({"input.value": self.CUT})
        assert (content.input, content.before) == ("Where to?", UNKNOWN)


class TestATool:
    @pytest.mark.parametrize(
        "result",
        [
            json.dumps({**TOOL, "status": "error", "content": "no such place"}),
            json.dumps({"content": [{"type": "text", "text": "no such place"}], "isError": True}),
            "Error: no such place",
            "Error executing tool search: no such place",
            "Traceback (most recent call last):\n  no such place",
        ],
    )
    def test_failed_if_its_result_says_so(self, result: str) -> None:
        assert "no such place" in read_content({"openinference.span.kind": "TOOL", "output.value": result}).error

    @pytest.mark.parametrize("result", ["Errors are rare.", "No error: all is well.", '{"status": "ok"}', "0 errors"])
    def test_that_speaks_of_errors_has_not_failed(self, result: str) -> None:
        assert read_content({"openinference.span.kind": "TOOL", "output.value": result}).error == ""


class TestTheTokensOfAModel:
    @pytest.mark.parametrize(
        "told",
        [
            {"langfuse.observation.usage_details": '{"input": 3, "output": 4, "total": 7}'},
            {"mlflow.chat.tokenUsage": {"input_tokens": 3, "output_tokens": 4}},
        ],
    )
    def test_may_be_one_object(self, told: dict[str, Any]) -> None:
        attributes, _ = with_content({}, told)
        assert attributes == {"gen_ai.usage.input_tokens": 3, "gen_ai.usage.output_tokens": 4}


class TestAnyValue:
    JSON = st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: (
            st.lists(inner)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "role",
                        "content",
                        "parts",
                        "type",
                        "message",
                        "messages",
                        "lc",
                        "kwargs",
                        "tool_calls",
                        "data",
                        "output",
                        "generations",
                        "text",
                        "name",
                        "source",
                        "graph",
                        "update",
                        "raw",
                        "function",
                    ]
                )
                | st.text(),
                inner,
            )
        ),
        max_leaves=20,
    )

    @example({}, [{"type": []}])
    @given(st.dictionaries(st.sampled_from(["input.value", "output.value", "gen_ai.prompt", "message"]), JSON), JSON)
    @example({}, [{"type": []}])
    @example({"output.value": {"answer": 42, "isError": []}}, None)
    def test_is_read_into_bounded_texts_that_are_kept_as_they_are(self, told: dict[str, Any], event: JsonValue) -> None:
        _, content = with_content({}, {name: json.dumps(value) for name, value in told.items()})
        assert len(content.input) <= MAX_TEXT
        assert len(content.output) <= MAX_TEXT
        assert with_content({CONTENT: as_attribute_text(content)}, {}) == ({}, content)
        assert isinstance(read_content({}, [("gen_ai.choice", {"message": event})]), Content)

    @given(
        st.sampled_from(["user", "Assistant", "tool", "system", "other"]),
        st.sampled_from(["content", "parts"]),
        st.text()
        | st.lists(
            st.fixed_dictionaries({"type": st.just("text"), "content": st.text()})
            | st.fixed_dictionaries({"type": st.just("text"), "text": st.text()})
            | st.fixed_dictionaries({"type": st.just("tool_call"), "name": st.text()})
        ),
    )
    def test_of_a_plain_message_is_read_as_that_of_one_with_more_fields(
        self, role: str, key: str, body: JsonValue
    ) -> None:
        message = {"role": role, key: body}
        assert messages_of([message]) == messages_of([{**message, "index": None}])

    @given(st.text())
    def test_that_is_text_is_one_message(self, text: str) -> None:
        assert [each.text for each in messages_of({"role": "user", "content": text})] == [text.strip()]

    def test_nested_without_end_ends(self) -> None:
        deep = "[" * 5000 + "]" * 5000
        assert messages_of(deep) == [Message("", deep)]
        assert unflattened({"p." + "0." * 5000 + "role": "user"}, "p.") is None


_TEXTS: st.SearchStrategy[JsonValue] = st.text("ab \n", max_size=4)
_TEXT_PARTS: st.SearchStrategy[JsonValue] = st.lists(
    st.builds(
        lambda told: {"type": "text", **told},
        st.dictionaries(st.sampled_from(["content", "text"]), _TEXTS | st.none(), max_size=2),
    ),
    max_size=3,
)
_MESSAGES: st.SearchStrategy[list[JsonValue]] = st.lists(
    st.builds(
        lambda role, told: {"role": role, **told},
        st.sampled_from(["user", "Assistant", "tool", "system", "critic"]),
        st.dictionaries(
            st.sampled_from(["content", "parts", "finish_reason", "refusal"]), _TEXTS | _TEXT_PARTS, max_size=3
        ),
    ),
    max_size=3,
)


@given(_MESSAGES)
def test_messages_of_a_role_and_texts_read_as_among_messages_of_any_shape(messages: list[JsonValue]) -> None:
    any_shape: JsonValue = {"role": "user", "content": "Hello", "name": "one more field"}
    *read, _ = messages_of([*messages, any_shape])
    assert read_messages(json.dumps(messages)) == (read, False)
    assert messages_of(messages) == read
