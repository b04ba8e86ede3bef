"""Second sources about who asked whom: the tools of a trace, by their names, arguments and times."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import accumulate
from typing import Final

from concord.trace.otlp import Act, Span, SpanTree, TeamReading, agent_in_arguments, name_key, tool_arguments, tool_name

_MAX_OPEN: Final = 64
"""The limit of tools, from the latest start back, that are asked whether they name an agent at a time."""


class Witnesses:
    """The tools that agents of a trace used. `of_agents`: the ids of the spans inside an agent's work."""

    def __init__(self, tree: SpanTree, reading: TeamReading, of_agents: Iterable[str]) -> None:
        self._tree = tree
        tools = (each for each in of_agents if (read := reading.spans.get(each)) is not None and read.act is Act.TOOL)
        self._tools: Mapping[str, Span] = {span_id: tree.spans[span_id] for span_id in tools}
        self._agents = {name_key(each.agent) for each in reading.spans.values() if each.act is Act.AGENT}

    def name(self, head: Span, caller: Span, agent: str) -> bool:
        """Whether a tool of the caller around the head names the agent (a `name_key`), in its name or its arguments."""
        if any(_names(tool, agent) for tool in self._between(head, caller)):
            return True
        tools = self._by_argument.get(agent, ())
        started = bisect_right(tools, head.start_ns, key=_start)
        return any(0 < head.end_ns <= tool.end_ns for tool in tools[max(0, started - _MAX_OPEN) : started])

    def contradict(self, head: Span, caller: Span, agent: str) -> bool:
        """Whether the arguments of a tool of the caller around the head name another agent of the trace."""
        named = {_argument(tool) for tool in self._between(head, caller)}
        return agent not in named and not named.isdisjoint(self._agents)

    def enclose(self, head: Span) -> bool:
        """Whether a tool runs all the time from the head's start to its end."""
        started = bisect_right(self._by_start, head.start_ns, key=_start)
        return started > 0 and head.end_ns > 0 and self._latest_ends[started - 1] >= head.end_ns

    def _between(self, head: Span, caller: Span) -> Iterator[Span]:
        seen: set[str] = set()
        current = self._tree.spans.get(head.parent_id)
        while current is not None and current.span_id != caller.span_id and current.span_id not in seen:
            seen.add(current.span_id)
            if current.span_id in self._tools:
                yield current
            current = self._tree.spans.get(current.parent_id)

    @cached_property
    def _by_argument(self) -> Mapping[str, list[Span]]:
        found: defaultdict[str, list[Span]] = defaultdict(list)
        for tool in self._by_start:
            if agent := _argument(tool):
                found[agent].append(tool)
        return found

    @cached_property
    def _by_start(self) -> list[Span]:
        return sorted(self._tools.values(), key=_start)

    @cached_property
    def _latest_ends(self) -> list[int]:
        return list(accumulate((tool.end_ns for tool in self._by_start), max))


def _names(tool: Span, agent: str) -> bool:
    return f"_{agent}_" in f"_{name_key(tool_name(tool))}_" or _argument(tool) == agent


def _argument(tool: Span) -> str:
    """The `name_key` of the agent in a tool's arguments; "" if they name none."""
    return name_key(agent_in_arguments(tool_arguments(tool)))


def _start(tool: Span) -> int:
    return tool.start_ns
