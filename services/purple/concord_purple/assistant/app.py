"""A personal assistant as an ASGI app: its card and its JSON-RPC endpoint."""

from collections.abc import Callable
from typing import Final

from fastapi import FastAPI

from concord.a2a import AgentProfile, Skill
from concord.llm import LLMSettings
from concord.version import VERSION
from concord_purple.agent_app import agent_app
from concord_purple.assistant.agent import Assistant, AssistantAgent
from concord_purple.assistant.model import ModelAssistant
from concord_purple.assistant.scripted import (
    DumpAssistant,
    NullAssistant,
    OracleAssistant,
    ReadOnlyAssistant,
    load_oracles,
)
from concord_purple.settings import AssistantMode, PurpleSettings

MAX_BODY_BYTES: Final = 1024 * 1024

_DOES: Final = {
    AssistantMode.NULL: "Does nothing. For the measurement of scenarios.",
    AssistantMode.DUMP: "Sends everything to everybody. For the measurement of scenarios.",
    AssistantMode.READ_ONLY: "Summarises everything and changes nothing. For the measurement of scenarios.",
    AssistantMode.ORACLE: "Performs the actions that a scenario's oracle.json lists.",
    AssistantMode.MODEL: "Works on the tasks that a user gives in the chat, with a language model.",
}


class NoModelError(ValueError):
    """The assistant `model` has no key for a model."""


def new_assistant(settings: PurpleSettings, llm: LLMSettings) -> Callable[[], Assistant]:
    """Makes the assistants of the settings. Raises OracleError, NoModelError."""
    match settings.assistant:
        case AssistantMode.DUMP:
            return DumpAssistant
        case AssistantMode.READ_ONLY:
            return ReadOnlyAssistant
        case AssistantMode.ORACLE if settings.oracle is not None:
            oracle = load_oracles(settings.oracle)
            return lambda: OracleAssistant(oracle)
        case AssistantMode.MODEL:
            if not llm.available:
                raise NoModelError("the assistant `model` needs AGENTBEATS_LLM_API_KEY")
            return lambda: ModelAssistant(llm)
        case _:
            return NullAssistant


def create_assistant_app(settings: PurpleSettings, llm: LLMSettings) -> FastAPI:
    """A personal assistant as an ASGI app. Raises OracleError, NoModelError."""
    agent = AssistantAgent(new_assistant(settings, llm))
    return agent_app("Concord assistant", _profile(settings), agent, agent.close, max_body_bytes=MAX_BODY_BYTES)


def _profile(settings: PurpleSettings) -> AgentProfile:
    does = _DOES[settings.assistant or AssistantMode.NULL]
    return AgentProfile(
        name=settings.own_id,
        description=does,
        version=VERSION,
        url=settings.own_url,
        skills=(Skill(id="assistant", name="Personal assistant", description=does, tags=("assistant", "email")),),
        # An assistant reports no steps. If its card announced reports, the gateway would wait for them after the trial.
        extensions=(),
    )
