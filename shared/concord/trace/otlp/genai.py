"""The one table of attribute names that are read from spans: OpenTelemetry's, which still move.

`VERSION` names the conventions they were taken from. Where a name has changed, the newest comes first and its
predecessors follow, so that older exporters are read as well; after them the names of OpenInference and OpenLLMetry.
"""

from typing import Final

VERSION: Final = "OpenTelemetry semantic conventions 1.43"

SERVICE_NAME: Final = ("service.name",)
OPERATION: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
AGENT_NAME: Final = ("gen_ai.agent.name", "agent.name")
TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name")
ENTITY_NAME: Final = ("traceloop.entity.name",)
"""What OpenLLMetry calls whatever the span is of."""
TOOL_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool.parameters")
MODEL: Final = ("gen_ai.request.model", "gen_ai.response.model", "llm.model_name")
INPUT: Final = ("gen_ai.input.messages", "gen_ai.prompt", "input.value", "traceloop.entity.input")
INPUT_TOKENS: Final = ("gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "llm.token_count.prompt")
OUTPUT_TOKENS: Final = ("gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "llm.token_count.completion")
ERROR_TYPE: Final = ("error.type", "exception.type")
RETRY_OF: Final = ("retry_of",)
"""Ours, in no convention: the span id of the attempt that a span repeats."""

AGENT_OPERATIONS: Final = frozenset({"invoke_agent", "agent"})
TOOL_OPERATIONS: Final = frozenset({"execute_tool", "tool"})
MODEL_OPERATIONS: Final = frozenset(
    {"chat", "generate_content", "text_completion", "embeddings", "retrieval"}
    | {"llm", "embedding", "retriever", "reranker"}
)
"""Operations that ask a model or an index: the use of a tool as well. What is in no set is an agent's own work."""

INTERNAL_SCOPES: Final = frozenset({"a2a-python-sdk"})
"""Scopes that tell of a library's insides, some 50 spans a message: left out, and what is under them moved up."""

ATTRIBUTES: Final = frozenset(
    OPERATION + AGENT_NAME + TOOL_NAME + ENTITY_NAME + TOOL_ARGUMENTS + MODEL + INPUT + INPUT_TOKENS + OUTPUT_TOKENS
) | frozenset(ERROR_TYPE + RETRY_OF)
"""All that is read of a span's attributes. The rest stays unread: it may be large, or a URL that holds a token."""
