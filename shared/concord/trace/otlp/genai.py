"""The attribute names that are read from spans, in one table.

They follow OpenTelemetry's conventions for generative AI, version `VERSION`. Where a name has changed, its former names
follow the current one; OpenInference's and OpenLLMetry's names come last.
"""

from typing import Final

VERSION: Final = "OpenTelemetry semantic conventions 1.43"

SERVICE_NAME: Final = ("service.name",)
OPERATION: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
AGENT_NAME: Final = ("gen_ai.agent.name", "agent.name")
TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name")
ENTITY_NAME: Final = ("traceloop.entity.name",)
"""OpenLLMetry's name for the span's subject."""
TOOL_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool.parameters")
MODEL: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
INPUT: Final = ("gen_ai.input.messages", "gen_ai.prompt", "input.value", "traceloop.entity.input")
INPUT_TOKENS: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
OUTPUT_TOKENS: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
ERROR_TYPE: Final = ("error.type", "exception.type")
RETRY_OF: Final = ("retry_of",)
"""Concord's own: the span id of the attempt that a span repeats."""

AGENT_OPERATIONS: Final = frozenset({"invoke_agent", "agent"})
TOOL_OPERATIONS: Final = frozenset({"execute_tool", "tool"})
MODEL_OPERATIONS: Final = frozenset(
    {"chat", "generate_content", "text_completion", "embeddings", "retrieval"}
    | {"llm", "embedding", "retriever", "reranker"}
)
"""Operations on a model or an index count as tool use. All other operations are an agent's own work."""

INTERNAL_SCOPES: Final = frozenset({"a2a-python-sdk"})
"""Scopes of library internals, some 50 spans per message. They are dropped, and their children move up."""

ATTRIBUTES: Final = frozenset(
    OPERATION + AGENT_NAME + TOOL_NAME + ENTITY_NAME + TOOL_ARGUMENTS + MODEL + INPUT + INPUT_TOKENS + OUTPUT_TOKENS
) | frozenset(ERROR_TYPE + RETRY_OF)
"""All attributes that are read. Others may be large, or contain a URL with a token."""
