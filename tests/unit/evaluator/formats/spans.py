"""OTLP/JSON spans for tests, with only the fields that a test needs."""

import json
from typing import Any

TRACE = "5b8efff798038103d269b633813fc60c"


def span_id(name: str) -> str:
    """The name in hex, so that a test can read the id."""
    return name.encode().hex().rjust(16, "f")


def span(name: str, parent: str = "", *, client: bool = False, trace: str = TRACE, **attributes: str) -> dict[str, Any]:
    """A span called `name`; the attributes `agent`, `operation` and `tool` are short for their names in the
    conventions."""
    names = {"agent": "gen_ai.agent.name", "operation": "gen_ai.operation.name", "tool": "gen_ai.tool.name"}
    return {
        "traceId": trace,
        "spanId": span_id(name),
        "parentSpanId": span_id(parent) if parent else "",
        "name": name,
        "kind": 3 if client else 1,
        "startTimeUnixNano": "1700000000000000000",
        "endTimeUnixNano": "1700000000250000000",
        "attributes": [{"key": names[key], "value": {"stringValue": value}} for key, value in attributes.items()],
    }


def invocation(name: str, agent: str, parent: str = "", *, client: bool = False, trace: str = TRACE) -> dict[str, Any]:
    return span(name, parent, client=client, trace=trace, agent=agent, operation="invoke_agent")


def exported(service: str, *spans: dict[str, Any], scope: str = "app") -> dict[str, Any]:
    """One export of one service."""
    attributes = [{"key": "service.name", "value": {"stringValue": service}}]
    scoped = [{"scope": {"name": scope}, "spans": list(spans)}]
    return {"resourceSpans": [{"resource": {"attributes": attributes}, "scopeSpans": scoped}]}


def as_lines(*exports: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, exports))
