"""A span as far as it concerns us, whichever form of OTLP it came in."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

from concord.trace.otlp.genai import AGENT_NAME, AGENT_OPERATIONS, ENTITY_NAME, INTERNAL_SCOPES, OPERATION

AttributeValue = str | bool | int | float

_INVOKE: Final = re.compile(r"invoke_agent\s+(.*)", re.DOTALL)


@dataclass(frozen=True)
class Span:
    """One span. Ids are lower-case hex, `parent_id` empty for a root; times in nanoseconds since 1970, 0 if unknown.

    `service`: the resource's `service.name`, or empty. `client`: it is the caller's end of a call
    elsewhere. `attributes`: those in the table, structured values as JSON. (No slots: the operation is kept.)
    """

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    scope: str
    service: str
    start_ns: int
    end_ns: int
    client: bool
    failed: bool
    message: str
    attributes: Mapping[str, AttributeValue]

    def first(self, names: Iterable[str]) -> AttributeValue | None:
        """The value of the first of these attributes that is there and not empty."""
        for name in names:
            value = self.attributes.get(name)
            if value is not None and value != "":
                return value
        return None

    def text(self, names: Iterable[str]) -> str:
        """The same as text; empty where there is none."""
        value = self.first(names)
        return "" if value is None else str(value)

    @cached_property
    def operation(self) -> str:
        """What the span is of, in lower case (`invoke_agent`, `chat`, …); empty where it does not say."""
        return self.text(OPERATION).lower()

    @property
    def calls_agent(self) -> bool:
        """Whether the span is the call of an agent."""
        return self.operation in AGENT_OPERATIONS

    @property
    def callee(self) -> str:
        """The agent that was called, as far as the span names it; empty for what is no call."""
        if not self.calls_agent:
            return ""
        if name := self.text((*AGENT_NAME, *ENTITY_NAME)):
            return name
        invoked = _INVOKE.fullmatch(self.name)
        return invoked[1] if invoked else ""

    @property
    def agent(self) -> str:
        """The agent whose work the span is, as far as it says so itself: in a call, the name is the callee's."""
        return "" if self.calls_agent else self.text(AGENT_NAME)


def without_internals(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans of one export that are not a library's own; what stood under those stands under their parents."""
    kept: list[Span] = []
    above: dict[tuple[str, str], str] = {}
    for span in spans:
        key = span.trace_id, span.span_id
        if span.scope in INTERNAL_SCOPES:
            # Of several that share an id, the least parent: which one came first must not matter.
            above[key] = min(span.parent_id, above.get(key, span.parent_id))
        else:
            kept.append(span)
    for span in kept:
        parent = _visible(span, above)
        yield span if parent == span.parent_id else replace(span, parent_id=parent)


def _visible(span: Span, above: Mapping[tuple[str, str], str]) -> str:
    """The nearest ancestor that is kept. In a cycle of internal spans there is none."""
    passed: set[str] = set()
    parent = span.parent_id
    while (span.trace_id, parent) in above:
        if parent in passed:
            return ""
        passed.add(parent)
        parent = above[span.trace_id, parent]
    return parent
