"""The gateway's assistants where no trial has a scenario."""

from concord.storage.connection import Storage
from concord_gateway.assistants import AssistantContexts, Assistants, Scenarios


def no_assistants(storage: Storage) -> Assistants:
    """No scenarios and no environments."""
    contexts = AssistantContexts("http://gateway", max_environments=1, idle_s=60)
    return Assistants(Scenarios(()), contexts, storage.assessments, "context")
