"""The language model: its settings, and the one client that everything uses."""

from concord.llm.client import Completion, EmptyCompletionError, LLMClient, LLMUnavailableError
from concord.llm.settings import LLMSettings

__all__ = ["Completion", "EmptyCompletionError", "LLMClient", "LLMSettings", "LLMUnavailableError"]
