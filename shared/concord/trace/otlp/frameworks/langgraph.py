"""LangGraph under every convention: its metadata names the nodes of a graph, and the nodes with models are agents."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Set
from functools import cache, cached_property, lru_cache
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, SpanTree, TeamReading, without_failure
from concord.trace.otlp.spans import Span

_CONTROL_FLOW: Final = re.compile(r"ParentCommand|GraphInterrupt|NodeInterrupt|GraphBubbleUp|^Command\(")
"""Exceptions by which LangGraph carries out a `Command` or an `interrupt`."""

_INSIDE: Final = frozenset(
    {"agent", "model", "tools", "call_model", "pre_model_hook", "post_model_hook", "model_request"}
)
"""Nodes of LangGraph's own agents, and of their middleware (`X.before_model`)."""

_ROOT: Final = ""
MARKS: Final = frozenset((*genai.METADATA, *(prefix + genai.LANGGRAPH_PATH for prefix in genai.METADATA_PREFIXES)))
_ANONYMOUS: Final = frozenset({"LangGraph", ""})
_DECORATION: Final = re.compile(r"^(?:invoke_agent|execute_task)\s+|\.workflow$|^invoke_workflow\s+")


def metadata(span: Span, entry: str) -> str:
    """An entry of a run's metadata in any convention; "" if absent."""
    if found := span.text(_names(entry)):
        return found.strip('"')
    written = span.text(genai.METADATA)
    return _entries(written).get(entry, "") if entry in written else ""


@cache
def _names(entry: str) -> tuple[str, ...]:
    return tuple(prefix + entry for prefix in genai.METADATA_PREFIXES)


@lru_cache(maxsize=1 << 10)
def _entries(written: str) -> dict[str, str]:
    """The entries of OpenInference's metadata, which many spans share. None if the text is cut."""
    try:
        entries = json.loads(written)
    except ValueError:
        return {}
    return {name: str(value) for name, value in entries.items() if value} if isinstance(entries, dict) else {}


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """Finds the agents of the graphs in a trace.

    A graph or a node with models in at most one node below is an agent, and so is a graph of LangGraph's own agents.
    Every other one with models is a team, and a node directly below that calls none is an agent of it if it failed. A
    graph inside a tool is an agent or a team by itself.
    """
    paths = {span.span_id: metadata(span, genai.LANGGRAPH_PATH) for span in tree.spans.values()}
    if not any(paths.values()):
        return reading
    return _Graphs(tree, reading, paths).read()


class _Graphs:
    def __init__(self, tree: SpanTree, reading: TeamReading, paths: dict[str, str]) -> None:
        self._tree = tree
        self._reading = reading
        self._paths = paths
        self._found: dict[str, Reading] = {}

    def read(self) -> TeamReading:
        for span in self._tree.spans.values():
            if span.scope in self._scopes and (known := self._reading.spans.get(span.span_id)) is not None:
                self._found[span.span_id] = self._plain(span, known)
        graphs = [span for span in self._tree.spans.values() if self._is_graph(span)]
        parts: defaultdict[str, list[Span]] = defaultdict(list)
        for span in graphs:
            if span.parent_id not in self._tree.spans:
                parts[_graph_name(span)].extend(self._tops(span))
        for span in graphs:
            tops, name = self._tops(span), _graph_name(span)
            others = parts[name] if span.parent_id not in self._tree.spans else []
            elsewhere = {metadata(node, genai.LANGGRAPH_NODE) for node in others if self._uses_model(node)}
            self._classify(span, tops, name, elsewhere)
        return self._reading.changed(self._found)

    def _plain(self, span: Span, known: Reading) -> Reading:
        """The reading of a span as nobody's, with its handoff and without its control flow."""
        act = Act.WORK if known.act in {Act.AGENT, Act.TEAM} else known.act
        target = metadata(span, genai.HANDOFF_TARGET) if act is Act.TOOL else ""
        plain = Reading(act, handoff_to=target or known.handoff_to, failed=known.failed)
        return without_failure(plain) if is_control_flow(span) else plain

    @cached_property
    def _graph_spans(self) -> frozenset[str]:
        """The spans with a path, and their ancestors in the same instrumentation up to a tool."""
        found: set[str] = set()
        for span_id, path in self._paths.items():
            current = span_id if path else ""
            scope = self._tree.spans[span_id].scope
            while current in self._tree.spans and current not in found and self._tree.spans[current].scope == scope:
                found.add(current)
                current = self._tree.spans[current].parent_id
        return frozenset(found)

    def _in_graph(self, span: Span) -> bool:
        return span.span_id in self._graph_spans

    def _is_tool(self, span: Span) -> bool:
        known = self._reading.spans.get(span.span_id)
        return known is not None and known.act is Act.TOOL

    def _is_graph(self, span: Span) -> bool:
        """Whether a span is the outermost of a graph: a root, or directly below a tool or another instrumentation."""
        parent = self._tree.spans.get(span.parent_id)
        outermost = parent is None or not self._in_graph(parent) or self._is_tool(parent)
        return outermost and self._in_graph(span) and not self._is_tool(span)

    def _path(self, span: Span) -> str:
        """The path of a span, or of the nearest one above it that has one."""
        seen: set[str] = set()
        current: Span | None = span
        while current is not None and current.span_id not in seen:
            if path := self._paths[current.span_id]:
                return path
            seen.add(current.span_id)
            current = self._tree.spans.get(current.parent_id)
        return _ROOT

    def _tops(self, span: Span) -> list[Span]:
        """The outermost spans of the nodes directly below a graph or a node, unless they are inside a tool."""
        return list(self._nodes_below(span, self._node_of(span), {span.span_id}))

    def _node_of(self, span: Span) -> tuple[str, str]:
        return self._path(span), metadata(span, genai.LANGGRAPH_NODE)

    def _nodes_below(self, span: Span, node: tuple[str, str], seen: set[str]) -> Iterator[Span]:
        for child in self._tree.children.get(span.span_id, ()):
            if child.span_id in seen or self._is_tool(child):
                continue
            seen.add(child.span_id)
            name = metadata(child, genai.LANGGRAPH_NODE)
            if name and (self._path(child), name) != node:
                yield child
            else:
                yield from self._nodes_below(child, node, seen)

    def _uses_model(self, span: Span) -> bool:
        """Whether a model is called at or below a span, outside of tools."""
        at = (span, *self._tree.below(span, self._tools))
        return any(self._reading.spans.get(each.span_id, _NOTHING).act is Act.MODEL for each in at)

    @cached_property
    def _scopes(self) -> frozenset[str]:
        """The instrumentations of graphs. OpenLLMetry also has spans beside a graph's that name it as an agent."""
        return frozenset(self._tree.spans[span_id].scope for span_id in self._graph_spans)

    @cached_property
    def _tools(self) -> frozenset[str]:
        return frozenset(each.span_id for each in self._tree.spans.values() if self._is_tool(each))

    def _classify(self, span: Span, nodes: list[Span], name: str, elsewhere: Set[str] = frozenset()) -> None:
        """`elsewhere`: the nodes with models of the graph's other runs in a thread, which an interrupt divides."""
        thinking = [node for node in nodes if self._uses_model(node)]
        names = {metadata(node, genai.LANGGRAPH_NODE) for node in thinking} | elsewhere
        if all(_is_inside(each) for each in names) and self._uses_model(span):
            self._found[span.span_id] = self._agent(span, name)
        elif len(names) == 1 and name in _ANONYMOUS | names:
            for node in thinking:
                self._classify(node, self._tops(node), metadata(node, genai.LANGGRAPH_NODE))
        elif len(names) == 1:
            self._found[span.span_id] = self._agent(span, name)
        elif names:
            self._found[span.span_id] = Reading(Act.TEAM, failed=span.failed and not is_control_flow(span))
            for node in nodes:
                node_name = metadata(node, genai.LANGGRAPH_NODE)
                if node.failed and node not in thinking and not is_control_flow(node) and not _is_inside(node_name):
                    self._found[node.span_id] = self._agent(node, node_name)
            for node in thinking:
                self._classify(node, self._tops(node), metadata(node, genai.LANGGRAPH_NODE))

    def _agent(self, span: Span, name: str) -> Reading:
        failed = span.failed and not is_control_flow(span)
        return Reading(Act.AGENT, name, failed=failed, group=self._step(span))

    def _step(self, span: Span) -> str:
        """The step of a node, whose nodes run in parallel; "" for a graph that is not a node."""
        step = metadata(span, genai.LANGGRAPH_STEP)
        parent = self._tree.spans.get(span.parent_id)
        return f"{parent.span_id} {step}" if step and parent is not None else ""


_NOTHING: Final = Reading(Act.WORK)


def _is_inside(node: str) -> bool:
    return node in _INSIDE or "." in node


def is_control_flow(span: Span) -> bool:
    """Whether a span's exception is how LangGraph carries out a `Command` or an `interrupt`, and no failure."""
    texts = (span.text(("exception.type",)), span.text(genai.EXCEPTION), span.message)
    return any(_CONTROL_FLOW.search(text) for text in texts)


def _graph_name(span: Span) -> str:
    return _DECORATION.sub("", span.name)
