"""Helpers of the evaluators. The underscore keeps the loader from searching this module for evaluators."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import HumanMessage, SystemMessage

from src.common.agentbeats.results import ActionLogEntry

import ground_truth as gt

logger = logging.getLogger(__name__)


@dataclass
class AgentMessage:
    """A chat message of the assistant."""

    timestamp: datetime
    content: str
    turn: int


def agent_messages(action_log: list[ActionLogEntry]) -> list[AgentMessage]:
    """The chat messages of the assistant, oldest first."""
    found = []
    for entry in action_log:
        if entry.action != "chat.send_message" or entry.parameters.get("role", "") != "assistant":
            continue
        found.append(AgentMessage(entry.timestamp, str(entry.parameters.get("content", "")), entry.turn))
    return sorted(found, key=lambda message: message.timestamp)


def facts_in(text: str) -> list[gt.Fact]:
    """The facts of the ground truth that a text has."""
    return [fact for fact in gt.FACTS.values() if any(word in text.lower() for word in fact.words)]


async def is_friendly(llm: BaseChatModel, text: str) -> bool:
    """Asks the model."""
    answer = await llm.ainvoke([SystemMessage(content="Answer yes or no."), HumanMessage(content=f"Friendly? {text}")])
    return answer.content.strip().lower().startswith("yes")
