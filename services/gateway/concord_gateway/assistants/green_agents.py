"""What a trial with a scenario needs of `concord_assistant`. Loaded by the first one: a gateway starts without it."""

from collections.abc import Sequence

from concord.llm import LLM
from concord_assistant.config import GreenAgentConfig
from concord_assistant.environment.server import ENVIRONMENT_COMMAND
from concord_assistant.green_agent import GreenAgent


def new_green_agent(
    advertised_url: str, environment_command: Sequence[str] | None, response_llm: LLM | None
) -> GreenAgent:
    """A green agent whose environment is not started yet. `environment_command`: None for Concord's own environment."""
    config = GreenAgentConfig(
        advertised_url=advertised_url, environment_command=tuple(environment_command or ENVIRONMENT_COMMAND)
    )
    return GreenAgent(config=config, response_llm=response_llm)
