"""What an assessment needs to have participants play scenarios."""

from dataclasses import dataclass

from concord.storage import AssessmentStore
from concord_gateway.assistants.contexts import AssistantContexts
from concord_gateway.assistants.scenarios import Scenarios


@dataclass(frozen=True, slots=True)
class Assistants:
    """The scenarios, the environments, the store of records, and the A2A context of the assessment's client."""

    scenarios: Scenarios
    contexts: AssistantContexts
    records: AssessmentStore
    context_id: str
