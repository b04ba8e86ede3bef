"""The language model: its settings, its providers and its client."""

from concord.llm.client import LLMClient, llm_client
from concord.llm.completion import (
    LLM,
    NO_KEY,
    Completion,
    EmptyCompletionError,
    LLMSettings,
    LLMUnavailableError,
    ProviderName,
)

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
