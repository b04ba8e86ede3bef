"""Microsoft Agent Framework's own spans: agents in executors of a workflow, which send each other messages."""

from collections.abc import Iterator
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_SCOPE: Final = "agent_framework"
MARKS: Final = frozenset({_SCOPE})
_HANDOFF_EXECUTOR: Final = "HandoffAgentExecutor"
_AGENT_EXECUTORS: Final = frozenset({"AgentExecutor", "MagenticAgentExecutor"})
_MAGENTIC: Final = "MagenticOrchestrator"
_CONVERSATIONS: Final = frozenset({"GroupChatOrchestrator", "AgentBasedGroupChatOrchestrator", _MAGENTIC})


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An executor is its agent while that works, and passes on messages otherwise.

    A message with a destination from an agent of a handoff workflow hands over. Under an orchestrator of a group chat,
    everybody hears everybody. A Magentic orchestrator is its manager, which asks an agent in each round.
    """
    found: dict[str, Reading] = {}
    members: dict[str, str] = {}
    """By the id of an executor, its agent. An executor of a silent agent has the agent's name."""
    chats = False
    for span in tree.spans.values():
        if span.scope != _SCOPE:
            continue
        kind = span.text(genai.EXECUTOR_TYPE)
        chats = chats or kind in _CONVERSATIONS
        if kind in _AGENT_EXECUTORS | {_HANDOFF_EXECUTOR, _MAGENTIC}:
            agents = {reading.spans[each.span_id].agent for each in _invocations(tree, span, reading)}
            if kind in _AGENT_EXECUTORS and (executor := span.text(genai.EXECUTOR)):
                members[executor] = next(iter(agents), members.get(executor, executor))
            if len(agents) == 1:
                found[span.span_id] = Reading(Act.AGENT, next(iter(agents)), failed=span.failed)
                for message in tree.children.get(span.span_id, ()) if kind == _HANDOFF_EXECUTOR else ():
                    if target := message.text(genai.SENT_TO):
                        found[message.span_id] = Reading(Act.WORK, handoff_to=target, failed=message.failed)
                if kind == _MAGENTIC:
                    found |= _requests(tree, span, reading)
        elif span.name == "workflow.run":
            found[span.span_id] = Reading(Act.TEAM, failed=span.failed)
    return reading.changed(found, (frozenset(members.values()),) if chats and members else ())


def _invocations(tree: SpanTree, executor: Span, reading: TeamReading) -> Iterator[Span]:
    for each in tree.children.get(executor.span_id, ()):
        known = reading.spans.get(each.span_id)
        if known is not None and known.act is Act.AGENT:
            yield each


def _requests(tree: SpanTree, orchestrator: Span, reading: TeamReading) -> dict[str, Reading]:
    """The messages after the manager's last answer. Those before it repeat what an agent said to the others."""
    decided = max(each.end_ns for each in _invocations(tree, orchestrator, reading))
    return {
        each.span_id: Reading(Act.WORK, asks=target, failed=each.failed)
        for each in tree.children.get(orchestrator.span_id, ())
        if each.start_ns >= decided and (target := each.text(genai.SENT_TO))
    }
