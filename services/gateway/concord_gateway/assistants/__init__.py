"""Assessments of assistants: the scenarios, an environment per A2A context, and the assistants' way to it."""

from concord_gateway.assistants.contexts import (
    AssistantContexts,
    Assistants,
    NoScenarioError,
    Scenarios,
    characters_model,
)
from concord_gateway.assistants.environment_proxy import environment_routes

__all__ = [
    "AssistantContexts",
    "Assistants",
    "NoScenarioError",
    "Scenarios",
    "characters_model",
    "environment_routes",
]
