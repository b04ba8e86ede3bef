"""The attributes and events by which each convention tells what was said, in one table.

An attribute stands for itself; a name that ends in `.` is the prefix of numbered ones (`llm.input_messages.0.…`). The
first that a span has counts. The more precise ones come first: of a tool its arguments, then messages, then values of
any shape.
"""

from typing import Final

INPUT: Final = (
    "gen_ai.tool.call.arguments",
    "gcp.vertex.agent.tool_call_args",
    "ai.toolCall.args",
    "tool_arguments",
    "gen_ai.input.messages",
    "llm.input_messages.",
    "llm.input_messages",
    "gen_ai.prompt.",
    "langfuse.observation.input",
    "mlflow.spanInputs",
    "input.value",
    "traceloop.entity.input",
    "gen_ai.prompt",
    "ai.prompt.messages",
    "ai.prompt",
    "gcp.vertex.agent.llm_request",
    "request_data",
    "pydantic_ai.all_messages",
    "all_messages_events",
    "crewai.task.description",
    "user_prompt",
    "haystack.agent.input",
    "haystack.agent.step.tool.input",
    "haystack.agent.step.llm.input",
    "haystack.component.input",
    "message",
    "langfuse.trace.input",
    "raw_input",
    "input",
    "tool.parameters",
)
"""OpenTelemetry, Google ADK, Vercel, pydantic-ai; OpenInference, OpenLLMetry (old), Langfuse, MLflow, OpenLLMetry,
langsmith, Logfire, CrewAI, Claude Code, Haystack, AutoGen, Logfire
for OpenAI Agents. OpenInference's `tool.parameters` is a schema in many libraries."""

OUTPUT: Final = (
    "gen_ai.tool.call.result",
    "gcp.vertex.agent.tool_response",
    "ai.toolCall.result",
    "tool_response",
    "gen_ai.output.messages",
    "llm.output_messages.",
    "llm.output_messages",
    "gen_ai.completion.",
    "langfuse.observation.output",
    "mlflow.spanOutputs",
    "output.value",
    "traceloop.entity.output",
    "gen_ai.completion",
    "ai.response.text",
    "ai.response.toolCalls",
    "gcp.vertex.agent.llm_response",
    "response_data",
    "final_result",
    "crewai.crew.result",
    "haystack.agent.output",
    "haystack.agent.step.tool.output",
    "haystack.agent.step.llm.output",
    "haystack.component.output",
    "langfuse.trace.output",
    "output",
)

FINISH: Final = ("gen_ai.response.finish_reasons", "ai.response.finishReason", "llm.finish_reason")

USAGE: Final = ("langfuse.observation.usage_details", "mlflow.chat.tokenUsage")
"""Tokens as one JSON object."""

USAGE_PARTS: Final = {
    "gen_ai.usage.input_tokens": ("input", "input_tokens", "prompt_tokens", "promptTokens"),
    "gen_ai.usage.output_tokens": ("output", "output_tokens", "completion_tokens", "completionTokens"),
}

KIND: Final = (
    "gen_ai.operation.name",
    "openinference.span.kind",
    "traceloop.span.kind",
    "langsmith.span.kind",
    "langfuse.observation.type",
    "mlflow.spanType",
    "ai.operationId",
)
"""What the span is. langsmith writes `chat` as the operation of every span, beside its kind."""

TOOL_KINDS: Final = frozenset({"tool", "execute_tool", "ai.toolcall"})
MODEL_KINDS: Final = frozenset(
    {"llm", "chat_model", "generation", "chat", "generate_content", "text_completion"}
    | {"ai.generatetext.dogenerate", "ai.streamtext.dostream"}
)

OF_MODELS: Final = ("llm.input_messages", "llm.output_messages")
"""Attributes that tell all messages only of a model's call. LangChain's other spans have the first message there."""

PREFIXES: Final = tuple(name for name in (*INPUT, *OUTPUT) if name.endswith("."))
NAMES: Final = frozenset((*INPUT, *OUTPUT, *FINISH, *KIND, *USAGE))

MESSAGE_EVENTS: Final = {
    "gen_ai.system.message": "system",
    "gen_ai.user.message": "user",
    "gen_ai.assistant.message": "assistant",
    "gen_ai.tool.message": "tool",
}
"""Events of OpenTelemetry's conventions up to 1.36, a message each, and its role."""

ANSWER_EVENT: Final = "gen_ai.choice"
DETAIL_EVENTS: Final = frozenset(
    {"gen_ai.client.inference.operation.details", "gen_ai.content.prompt", "gen_ai.content.completion"}
)
"""Events whose attributes are those of the span: of 1.37 and later, and of the first versions."""


def is_content(name: str) -> bool:
    """Whether an attribute says what was said."""
    return name in NAMES or name.startswith(PREFIXES)


EVENT: Final = "input.value"
"""What a step of a workflow was given, as OpenInference writes it."""
