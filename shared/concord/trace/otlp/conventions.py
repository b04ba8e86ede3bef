"""The conventions that spans of agents follow, in one table: the attribute that says what a span is, and its values."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_INVOKE: Final = re.compile(r"invoke_agent\s+(.+)", re.DOTALL)
_METHOD: Final = re.compile(r"\.(?:run|arun|_?execute_core|kickoff|invoke)(?:_async)?$")
"""Instrumentations of smolagents and CrewAI name an agent's span after the method: `searcher.run`."""

_AGENT, _TOOL = frozenset({"agent"}), frozenset({"tool"})


@dataclass(frozen=True, slots=True)
class Convention:
    """What a span is, by the value of one of its attributes in lower case; of any other value, it is other work.

    `models`: matches the values of models, of which `_one_of` makes a pattern. `agent_names`, `tool_names`: attributes
    with the name. `agent_name`, `tool_name`: the name where none tells it; of an agent None if its span is other work.
    `level`: an attribute by which the convention says `ERROR`. `in_json`: values are written in JSON.
    """

    attribute: str
    models: re.Pattern[str]
    agents: frozenset[str] = _AGENT
    agent_names: tuple[str, ...] = ()
    agent_name: Callable[[Span], str | None] = lambda span: span.name
    tools: frozenset[str] = _TOOL
    tool_names: tuple[str, ...] = ()
    tool_name: Callable[[Span], str] = lambda span: span.name
    teams: frozenset[str] = frozenset()
    level: tuple[str, ...] = ()
    in_json: bool = False

    def read(self, span: Span) -> Reading | None:
        """What the span is; None if it does not follow the convention."""
        written = span.text((self.attribute,))
        kind = (written.strip('"') if self.in_json else written).lower()
        if not kind:
            return None
        failed = span.failed or span.text(self.level) == "ERROR"
        if kind in self.agents:
            name = span.text(self.agent_names) or self.agent_name(span)
            return Reading(Act.WORK if name is None else Act.AGENT, (name or "").strip(), failed=failed)
        if kind in self.tools:
            return tool_use(span, span.text(self.tool_names) or self.tool_name(span), failed=failed)
        if kind in self.teams:
            return Reading(Act.TEAM, failed=failed)
        return Reading(Act.MODEL if self.models.fullmatch(kind) else Act.WORK, failed=failed)


def _one_of(*values: str) -> re.Pattern[str]:
    return re.compile("|".join(map(re.escape, values)))


def _invoked(span: Span) -> str | None:
    """The agent of an `invoke_agent` without its name: the rest of the span's name, or the agent's id."""
    named = _INVOKE.fullmatch(span.name)
    return named[1] if named else span.text(genai.AGENT_ID) or None


_NONE: Final = frozenset[str]()

CONVENTIONS: Final = (
    # As langsmith's SDK exports it. It has no kind for agents: the framework's mapping finds them.
    Convention(
        genai.LANGSMITH_KIND[0],
        _one_of("llm", "embedding", "retriever"),
        agents=_NONE,
        tool_names=genai.TOOL_NAME,
    ),
    # As Langfuse's SDK exports it.
    Convention(
        genai.LANGFUSE_TYPE[0],
        _one_of("generation", "embedding", "retriever"),
        level=genai.LANGFUSE_LEVEL,
    ),
    # As MLflow exports it.
    Convention(
        genai.MLFLOW_TYPE[0],
        _one_of("llm", "chat_model", "embedding", "retriever", "reranker"),
        in_json=True,
    ),
    # OpenInference.
    Convention(
        genai.OPENINFERENCE_KIND[0],
        _one_of("llm", "embedding", "retriever", "reranker"),
        agent_names=(*genai.AGENT_NAME, *genai.GRAPH_NODE),
        agent_name=lambda span: _METHOD.sub("", span.name),
        tool_names=genai.TOOL_NAME,
    ),
    # OpenLLMetry. Its spans of models have OpenTelemetry's names.
    Convention(
        genai.OPENLLMETRY_KIND[0],
        _one_of(),
        agent_names=(*genai.AGENT_NAME, *genai.ENTITY_NAME),
        agent_name=lambda span: span.name.removesuffix(".agent"),
        tool_names=(*genai.TOOL_NAME, *genai.ENTITY_NAME),
        tool_name=lambda _: "",
        teams=genai.TEAM_OPERATIONS,
    ),
    # Vercel's AI SDK up to version 6, and `LegacyOpenTelemetry` later. A call is the work of the agent that its
    # function id names; the calls of a model inside it begin with `do`.
    Convention(
        genai.VERCEL_OPERATION[0],
        re.compile(r"(?:.*\.)?do[^.]*", re.DOTALL),
        agents=frozenset({"ai.generatetext", "ai.streamtext", "ai.generateobject", "ai.streamobject"}),
        agent_names=genai.VERCEL_FUNCTION,
        agent_name=lambda _: None,
        tools=frozenset({"ai.toolcall"}),
        tool_names=genai.VERCEL_TOOL,
        tool_name=lambda _: "",
    ),
    # OpenTelemetry's conventions for generative AI, in development (see `genai.VERSION`): pydantic-ai, AutoGen, Agent
    # Framework, Logfire, …. `create_agent` is work outside the team, since nobody asked the agent anything yet.
    Convention(
        genai.GENAI_OPERATION[0],
        _one_of(*sorted(genai.MODEL_OPERATIONS)),
        agents=frozenset({"invoke_agent"}),
        agent_names=genai.AGENT_NAME,
        agent_name=_invoked,
        tools=genai.TOOL_OPERATIONS,
        tool_names=genai.TOOL_NAME,
        tool_name=lambda _: "",
        teams=genai.TEAM_OPERATIONS,
    ),
)
"""A span is read by the first that it follows. The general one comes last, because the others write some of its
attributes as well."""
