"""OpenTelemetry's conventions for generative AI (`gen_ai.*`, in development): pydantic-ai, AutoGen, Agent Framework, …

Logfire writes them too. Version: see `genai.VERSION`.
"""

import re
from typing import Final

from concord.trace.otlp import genai
from concord.trace.otlp.reading import Act, Reading, tool_use
from concord.trace.otlp.spans import Span

_INVOKE: Final = re.compile(r"invoke_agent\s+(.+)", re.DOTALL)


def read(span: Span) -> Reading | None:
    """The operation decides. An agent without any name is known by its id.

    `create_agent` is work outside the team, since nobody asked the agent anything yet.
    """
    operation = span.text(genai.GENAI_OPERATION).lower()
    if not operation:
        return None
    if operation == "invoke_agent":
        named = _INVOKE.fullmatch(span.name)
        agent = span.text(genai.AGENT_NAME) or (named[1] if named else span.text(genai.AGENT_ID))
        return Reading(Act.AGENT if agent else Act.WORK, agent, failed=span.failed)
    if operation in genai.TEAM_OPERATIONS:
        return Reading(Act.TEAM, failed=span.failed)
    if operation in genai.TOOL_OPERATIONS:
        return tool_use(span, span.text(genai.TOOL_NAME))
    return Reading(Act.MODEL if operation in genai.MODEL_OPERATIONS else Act.WORK, failed=span.failed)
