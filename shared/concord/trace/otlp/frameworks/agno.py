"""Agno under OpenInference, whose spans of nested teams have wrong parents, and right ids of their nodes."""

from bisect import bisect_right
from typing import Final

from msgspec.structs import replace

from concord.trace.attributes import KnownBy
from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, SpanTree, TeamReading
from concord.trace.otlp.spans import Span

_SCOPE: Final = "openinference.instrumentation.agno"
MARKS: Final = frozenset({_SCOPE})


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """An agent works within the team whose node its span names, in the latest of that node's runs before it."""
    agents = {span_id: each for span_id, each in reading.spans.items() if each.act is Act.AGENT}
    runs: dict[str, list[Span]] = {}
    for span in sorted((tree.spans[span_id] for span_id in agents), key=_start):
        if span.scope == _SCOPE and (node := span.text(genai.GRAPH_NODE)):
            runs.setdefault(node, []).append(span)
    moved = {}
    for span in (span for spans in runs.values() for span in spans):
        above = runs.get(span.text(genai.GRAPH_PARENT), [])
        if before := bisect_right(above, span.start_ns, key=_start):
            moved[span.span_id] = replace(agents[span.span_id], within=above[before - 1].span_id, known_by=KnownBy.IDS)
    return reading.changed(moved)


def _start(span: Span) -> int:
    return span.start_ns
