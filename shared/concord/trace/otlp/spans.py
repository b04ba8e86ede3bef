"""A span, reduced to the fields that matter, from either form of OTLP."""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec.structs import replace

from concord.trace.otlp.content import NOTHING, Content, as_attribute_text
from concord.trace.otlp.genai import (
    AGENT_NAME,
    AGENT_OPERATIONS,
    CONTENT,
    ENTITY_NAME,
    INTERNAL_SCOPES,
    LOGFIRE_MESSAGE,
    LOGFIRE_NAME,
    METHOD,
    OPERATION,
    PATH,
    SERVER,
    SERVER_PORT,
    URL,
    AttributeValue,
)

_CARD: Final = re.compile(r"(?:^|\s)\S*/\.well-known/agent(?:-card)?\.json$")
SpanKey = tuple[str, str]
"""The trace id and the id of a span."""

_INVOKE: Final = re.compile(r"invoke_agent\s+(.*)", re.DOTALL)


class Span(msgspec.Struct, frozen=True, array_like=True, omit_defaults=True, gc=False):
    """One span. Ids are lower-case hex, `parent_id` empty for a root; times in nanoseconds since 1970, 0 if unknown.

    `service`: the resource's `service.name`, or empty. `client`: it is the caller's end of a call
    elsewhere. `attributes`: those in the table, structured values as JSON. `address`: where a client's span goes,
    without credentials and query; "" if unknown, or for an HTTP request that is not a POST. `version`: the resource's
    `service.version`, or empty. `content`: what was said in it. `links`: of a root, the trace and the span id of each
    span that it is linked to.
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
    address: str = ""
    version: str = ""
    content: Content = NOTHING
    links: tuple[SpanKey, ...] = ()

    @property
    def all_attributes(self) -> dict[str, AttributeValue]:
        """The attributes, with the content as one of them."""
        said = as_attribute_text(self.content)
        return {**self.attributes, CONTENT: said} if said else dict(self.attributes)

    def first(self, names: Iterable[str]) -> AttributeValue | None:
        """The first of these attributes that is present and not empty."""
        attributes = self.attributes
        for name in names:
            if name in attributes and (value := attributes[name]) != "":
                return value
        return None

    def text(self, names: Iterable[str]) -> str:
        """The same as text, "" if absent."""
        attributes = self.attributes
        for name in names:
            if name in attributes and (value := attributes[name]) != "":
                return str(value)
        return ""

    @property
    def filled_name(self) -> str:
        """The name; where it is a template, as of logfire, what stands for its `{name}`, or a handoff in words."""
        facts = {"{name}": LOGFIRE_NAME, "{to_agent}": LOGFIRE_MESSAGE}
        return next((self.text(names) for part, names in facts.items() if part in self.name), "") or self.name

    @property
    def operation(self) -> str:
        """The operation, in lower case (`invoke_agent`, `chat`, …); "" if the span does not say."""
        return self.text(OPERATION).lower()

    @property
    def calls_agent(self) -> bool:
        """Whether the span is the call of an agent."""
        return self.operation in AGENT_OPERATIONS

    @property
    def serves_card(self) -> bool:
        """Whether the span answers a request for the card of an A2A agent, which asks the agent nothing."""
        return any(_CARD.search(each) for each in (self.name, self.text(PATH)))

    @property
    def callee(self) -> str:
        """The agent that was called, as far as the span names it; "" if the span is not a call."""
        if not self.calls_agent:
            return ""
        if name := self.text((*AGENT_NAME, *ENTITY_NAME)):
            return name
        invoked = _INVOKE.fullmatch(self.name)
        return invoked[1] if invoked else ""

    @property
    def internal(self) -> bool:
        """Whether a library describes its own work in the span."""
        return self.scope in INTERNAL_SCOPES

    @property
    def agent(self) -> str:
        """The agent that did the work, as far as the span says so. In a call, the name is the callee's."""
        return "" if self.calls_agent else self.text(AGENT_NAME)


def destination(attributes: Mapping[str, AttributeValue]) -> str:
    """The address in the attributes of a client's span: scheme, host, port and path; "" if there is none."""
    given = {name: str(value) for name, value in attributes.items() if value != ""}
    method, url, host, port = (
        next((given[name] for name in names if name in given), "") for names in (METHOD, URL, SERVER, SERVER_PORT)
    )
    if method.upper() not in {"", "POST"}:
        return ""
    try:
        parts = urlsplit(url or (f"http://{host}:{port}" if host and port else ""))
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}" if parts.netloc else ""


def without_internals(spans: Iterable[Span]) -> Iterator[Span]:
    """The spans of an export without library internals, whose children move up to the nearest kept ancestor."""
    kept: list[Span] = []
    above: dict[SpanKey, str] = {}
    for span in spans:
        if span.internal:
            # If several spans share an id, the smallest parent id wins, so that their order does not matter.
            key = span.trace_id, span.span_id
            above[key] = min(span.parent_id, above.get(key, span.parent_id))
        else:
            kept.append(span)
    if not above:
        yield from kept
        return
    known: dict[SpanKey, str] = {}
    for span in kept:
        parent = _visible(span, above, known)
        yield span if parent == span.parent_id else replace(span, parent_id=parent)


def _visible(span: Span, above: Mapping[SpanKey, str], known: dict[SpanKey, str]) -> str:
    """The nearest kept ancestor; none in a cycle of internal spans. `known`: those of the internal spans passed before,
    so that many spans below a long chain of them take no longer than the spans are many."""
    passed: dict[SpanKey, None] = {}
    parent = span.parent_id
    while (key := (span.trace_id, parent)) in above:
        if key in known or key in passed:
            parent = known.get(key, "")
            break
        passed[key] = None
        parent = above[key]
    known.update(dict.fromkeys(passed, parent))
    return parent
