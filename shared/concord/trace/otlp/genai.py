"""The attribute names that are read from spans, in one table.

They follow OpenTelemetry's conventions for generative AI, version `VERSION`. Where a name has changed, its former names
follow the current one; OpenInference's and OpenLLMetry's names come last. Names of single frameworks follow.
"""

from typing import Final

from concord.trace import effects

AttributeValue = str | bool | int | float

VERSION: Final = "OpenTelemetry semantic conventions 1.43"

SERVICE_NAME: Final = ("service.name",)
SERVICE_VERSION: Final = ("service.version",)
OPERATION: Final = ("gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind")
AGENT_NAME: Final = ("gen_ai.agent.name", "agent.name")
AGENT_ID: Final = ("gen_ai.agent.id",)
TOOL_NAME: Final = ("gen_ai.tool.name", "tool.name")
ENTITY_NAME: Final = ("traceloop.entity.name",)
"""OpenLLMetry's name for the span's subject."""
TOOL_ARGUMENTS: Final = ("gen_ai.tool.call.arguments", "tool.parameters")
MODEL: Final = (
    "gen_ai.request.model",
    "gen_ai.response.model",
    "llm.model_name",
    "langfuse.observation.model.name",
    "ai.model.id",
)
INPUT_TOKENS: Final = (
    "gen_ai.usage.input_tokens",
    "gen_ai.usage.prompt_tokens",
    "llm.token_count.prompt",
    "ai.usage.promptTokens",
    "ai.usage.inputTokens",
)
OUTPUT_TOKENS: Final = (
    "gen_ai.usage.output_tokens",
    "gen_ai.usage.completion_tokens",
    "llm.token_count.completion",
    "ai.usage.completionTokens",
    "ai.usage.outputTokens",
)
ERROR_TYPE: Final = ("error.type", "exception.type")
THROWN_TYPE: Final = ("exception.type", "error.type")
"""The type of an exception says more than that of an error, which may be a status code."""
CONTENT: Final = "concord.content"
"""Concord's own: what was said in the span (see `concord.trace.otlp.content`)."""
STEP_AGENT: Final = ("concord.step_agent",)
"""Concord's own: the agent that the event of a workflow's step names."""
RETRY_OF: Final = ("retry_of",)
"""Concord's own: the span id of the attempt that a span repeats."""
EFFECT_KIND: Final = f"concord.{effects.KIND}"
EFFECTS: Final = {f"concord.{name}": name for name in sorted(effects.ATTRIBUTES)}
"""Concord's own: what a span did to an artifact, by the attribute of its step."""

TASK_ID: Final = ("concord.task_id", "langfuse.experiment.item.id")
TARGET: Final = ("concord.target", "langfuse.experiment.item.expected_output")
SCORER: Final = ("concord.scorer",)
SCORES: Final = ("concord.scores",)
"""What a recording declares of its task: the id, accepted answers, how they are compared, and judgments by name."""

OUTCOMES: Final = ("task_success", "success", "passed", "correctness", "correct", "accuracy", "exact_match")
"""Names of judgments that tell whether the answer is right; others, such as `helpfulness`, tell something else."""

EVALUATIONS: Final = {
    f"eval.{written}.{kind}": name
    for name in OUTCOMES
    for written in (name, name.capitalize())
    for kind in ("score", "label")
}
"""OpenInference writes an evaluation of a span as `eval.NAME.score` and `eval.NAME.label`; by attribute, the name."""

AGENT_OPERATIONS: Final = frozenset({"invoke_agent", "agent"})
TEAM_OPERATIONS: Final = frozenset({"invoke_workflow", "workflow"})
TOOL_OPERATIONS: Final = frozenset({"execute_tool", "tool"})
MODEL_OPERATIONS: Final = frozenset(
    {"chat", "generate_content", "text_completion", "embeddings", "retrieval"}
    | {"llm", "embedding", "retriever", "reranker"}
)
"""Operations on a model or an index count as tool use. All other operations are an agent's own work."""

INTERNAL_SCOPES: Final = frozenset({"a2a-python-sdk"})
"""Scopes of library internals, some 50 spans per message. They are dropped, and their children move up."""

METADATA_PREFIXES: Final = (
    "traceloop.association.properties.",
    "langsmith.metadata.",
    "langfuse.observation.metadata.",
)
"""OpenLLMetry, langsmith and Langfuse write each entry of a run's metadata as an attribute, Langfuse in JSON.
OpenInference and MLflow write one attribute of JSON."""

METADATA: Final = ("metadata",)
LANGGRAPH_NODE: Final = "langgraph_node"
LANGGRAPH_PATH: Final = "langgraph_checkpoint_ns"
LANGGRAPH_STEP: Final = "langgraph_step"
"""Entries of LangGraph's metadata: a node's name, its path of nodes from the outermost graph, each with an id, and the
number of its step, in which several nodes may run in parallel."""
HANDOFF_TARGET: Final = "__handoff_destination"
THREAD: Final = "thread_id"

GRAPH_NODE: Final = ("graph.node.id",)
GRAPH_PARENT: Final = ("graph.node.parent_id",)
HANDOFF_TO: Final = ("gen_ai.handoff.to_agent", "to_agent")
LOGFIRE_NAME: Final = ("name",)
"""Logfire's own names for the agent that gets control, and for the subject of a span."""
LOGFIRE_MESSAGE: Final = ("logfire.msg",)
"""What a span is, in words: its name, which is a template, with what stands for the parts."""
CONVERSATION: Final = (
    "gen_ai.conversation.id",
    "gcp.vertex.agent.session_id",
)
"""The conversation that a span belongs to, which may have several traces. langsmith's `session` is a whole project."""
SESSION: Final = ("session.id",)
"""The session of a user, which may last for days and have many runs. Few frameworks need it to tell what is one run."""
WORKFLOW_NAME: Final = ("gen_ai.workflow.name", "workflow.name", "traceloop.workflow.name")
LANGFUSE_TYPE: Final = ("langfuse.observation.type",)
LANGFUSE_LEVEL: Final = ("langfuse.observation.level",)
MLFLOW_TYPE: Final = ("mlflow.spanType",)
LANGSMITH_KIND: Final = ("langsmith.span.kind",)
OPENINFERENCE_KIND: Final = ("openinference.span.kind",)
OPENLLMETRY_KIND: Final = ("traceloop.span.kind",)
GENAI_OPERATION: Final = ("gen_ai.operation.name",)
VERCEL_OPERATION: Final = ("ai.operationId",)
VERCEL_FUNCTION: Final = ("ai.telemetry.functionId",)
VERCEL_TOOL: Final = ("ai.toolCall.name",)
EXCEPTION: Final = ("exception.message",)
TRANSFER_ARGUMENTS: Final = ("gcp.vertex.agent.tool_call_args",)
EXECUTOR: Final = ("executor.id",)
EXECUTOR_TYPE: Final = ("executor.type",)
SENT_TO: Final = ("message.destination_executor_id",)
RECIPIENT: Final = ("recipient_agent_type",)
RECIPIENT_CLASS: Final = ("recipient_agent_class",)
SENDER: Final = ("sender_agent_type",)
"""Microsoft Agent Framework's names, then AutoGen's."""

DESTINATION_TYPE: Final = ("messaging.destination",)
MESSAGE_TYPE: Final = ("messaging.message.type",)
"""AutoGen's names for the recipient and the type of a message."""

CREW_AGENTS: Final = ("crew_agents",)
SPEAKER_CANDIDATES: Final = ("ag2.speaker_selection.candidates",)

CLAUDE_SPAN: Final = ("span.type",)
CLAUDE_SUBAGENT: Final = ("subagent_type",)
"""Claude Code's names for what a span is, and for the subagent that a tool starts."""

HAYSTACK_COMPONENT: Final = ("haystack.component.name",)
HAYSTACK_TOOL: Final = ("haystack.tool.name",)

URL: Final = ("url.full", "http.url")
SERVER: Final = ("server.address", "net.peer.name")
SERVER_PORT: Final = ("server.port", "net.peer.port")
METHOD: Final = ("http.request.method", "http.method")
"""The URL of a client's call, in the present and in former conventions of HTTP. Only the address is kept."""

PATH: Final = ("http.route", "url.path")

DESTINATION: Final = frozenset(URL + SERVER + SERVER_PORT + METHOD)

_TEAM_ATTRIBUTES: Final = frozenset(
    METADATA
    + GRAPH_NODE
    + GRAPH_PARENT
    + HANDOFF_TO
    + LOGFIRE_NAME
    + LOGFIRE_MESSAGE
    + CONVERSATION
    + SESSION
    + WORKFLOW_NAME
    + LANGSMITH_KIND
    + EXCEPTION
    + TRANSFER_ARGUMENTS
) | frozenset(EXECUTOR + EXECUTOR_TYPE + SENT_TO + RECIPIENT + RECIPIENT_CLASS + SENDER + CREW_AGENTS)
_METADATA_ENTRIES: Final = frozenset(
    prefix + entry
    for prefix in METADATA_PREFIXES
    for entry in (
        LANGGRAPH_NODE,
        LANGGRAPH_PATH,
        LANGGRAPH_STEP,
        HANDOFF_TARGET,
        THREAD,
        "session_id",
        "conversation_id",
        *(TASK_ID[0], TARGET[0], *SCORER),
    )
)

ATTRIBUTES: Final = (
    _TEAM_ATTRIBUTES
    | _METADATA_ENTRIES
    | frozenset(
        OPERATION
        + AGENT_NAME
        + AGENT_ID
        + TOOL_NAME
        + ENTITY_NAME
        + TOOL_ARGUMENTS
        + MODEL
        + (CONTENT,)
        + STEP_AGENT
        + VERCEL_OPERATION
        + VERCEL_FUNCTION
        + VERCEL_TOOL
        + INPUT_TOKENS
        + OUTPUT_TOKENS
    )
    | frozenset(
        LANGFUSE_TYPE + LANGFUSE_LEVEL + MLFLOW_TYPE + DESTINATION_TYPE + MESSAGE_TYPE + SPEAKER_CANDIDATES + PATH
    )
    | frozenset(EFFECTS)
    | frozenset((*TASK_ID, *TARGET, *SCORER, *SCORES, *EVALUATIONS))
    | frozenset(CLAUDE_SPAN + CLAUDE_SUBAGENT + HAYSTACK_COMPONENT + HAYSTACK_TOOL)
    | frozenset((CONTENT, *ERROR_TYPE, *RETRY_OF, *OPENINFERENCE_KIND, *OPENLLMETRY_KIND, *GENAI_OPERATION))
)
"""All attributes that are read. Others may be large, or contain a URL with a token."""
