"""The frameworks whose spans need more than their convention, a module each, in the order in which they are applied."""

from typing import Final

from concord.trace.otlp.frameworks import (
    ag2,
    agent_framework,
    agno,
    autogen,
    beeai,
    claude,
    crewai,
    google_adk,
    haystack,
    langgraph,
    llama_index,
    openai_agents,
    semantic_kernel,
)
from concord.trace.otlp.reading import Framework

FRAMEWORKS: Final[tuple[Framework, ...]] = (
    langgraph.read,
    openai_agents.read,
    agno.read,
    beeai.read,
    claude.read,
    haystack.read,
    llama_index.read,
    google_adk.read,
    agent_framework.read,
    autogen.read,
    semantic_kernel.read,
    ag2.read,
    crewai.read,
)

__all__ = ["FRAMEWORKS"]
