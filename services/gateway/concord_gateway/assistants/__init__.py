"""Assessments of assistants: the scenarios, an environment per A2A context, and the assistants' way to it."""

from concord_gateway.assistants.assistants import Assistants
from concord_gateway.assistants.characters import characters_model
from concord_gateway.assistants.contexts import AssistantContexts
from concord_gateway.assistants.environment_proxy import environment_routes
from concord_gateway.assistants.scenarios import NoScenarioError, Scenarios

__all__ = [
    "AssistantContexts",
    "Assistants",
    "NoScenarioError",
    "Scenarios",
    "characters_model",
    "environment_routes",
]
