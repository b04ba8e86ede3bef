"""The language model: its settings and its client."""

from concord.llm.client import Completion, EmptyCompletionError, LLMClient, LLMUnavailableError
from concord.llm.settings import LLMSettings

__all__ = ["Completion", "EmptyCompletionError", "LLMClient", "LLMSettings", "LLMUnavailableError"]
