"""The language model: its settings, its providers and its client."""

from concord.llm.client import LLMClient, llm_client
from concord.llm.completion import LLM, Completion, EmptyCompletionError, LLMUnavailableError
from concord.llm.settings import NO_KEY, LLMSettings, ProviderName

__all__ = [
    "LLM",
    "NO_KEY",
    "Completion",
    "EmptyCompletionError",
    "LLMClient",
    "LLMSettings",
    "LLMUnavailableError",
    "ProviderName",
    "llm_client",
]
