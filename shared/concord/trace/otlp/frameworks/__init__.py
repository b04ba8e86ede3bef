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

FRAMEWORKS: Final[tuple[tuple[frozenset[str], Framework], ...]] = (
    (langgraph.MARKS, langgraph.read),
    (openai_agents.MARKS, openai_agents.read),
    (agno.MARKS, agno.read),
    (beeai.MARKS, beeai.read),
    (claude.MARKS, claude.read),
    (haystack.MARKS, haystack.read),
    (llama_index.MARKS, llama_index.read),
    (google_adk.MARKS, google_adk.read),
    (agent_framework.MARKS, agent_framework.read),
    (autogen.MARKS, autogen.read),
    (semantic_kernel.MARKS, semantic_kernel.read),
    (ag2.MARKS, ag2.read),
    (crewai.MARKS, crewai.read),
)
"""Each with its marks: scopes or attributes of which its spans have one. A trace without any of them is not its own."""

__all__ = ["FRAMEWORKS"]
