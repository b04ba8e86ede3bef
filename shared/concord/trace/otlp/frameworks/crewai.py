"""CrewAI under OpenInference, which records a crew's tasks but not the work that an agent delegates to another."""

import json
from dataclasses import replace
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, SpanTree, TeamReading

MARKS: Final = frozenset(genai.CREW_AGENTS)


def read(tree: SpanTree, reading: TeamReading) -> TeamReading:
    """The agents of a crew without a span are unseen if anybody could delegate to them."""
    working = {each.agent for each in reading.spans.values() if each.act is Act.AGENT}
    listed: dict[str, bool] = {}
    for span in tree.spans.values():
        listed |= _agents(span.text(genai.CREW_AGENTS))
    delegates = any(listed.values()) or bool(working - listed.keys())
    unseen = [role for role in listed if role not in working]
    return replace(reading, unseen=tuple(unseen)) if unseen and delegates else reading


def _agents(written: str) -> dict[str, bool]:
    """By role, whether the agent may delegate; empty if the attribute is absent, or cut."""
    try:
        agents = json.loads(written) if written else []
    except ValueError:
        return {}
    return {str(each.get("role", "")).strip(): bool(each.get("delegation_enabled")) for each in agents}
