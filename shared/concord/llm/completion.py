"""A model's completion, the errors in place of one, and the interface of the providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

MAX_WORDS: Final = 120
"""Characters of an unusable answer that its error shows."""


class LLMUnavailableError(Exception):
    """No key, no connection, a refusal or an empty answer: the caller has to do without the model."""


class EmptyCompletionError(LLMUnavailableError):
    """The model's answer was empty."""


class UnusableAnswerError(LLMUnavailableError):
    """The endpoint answered something else than a completion, such as a page."""

    def __init__(self, answer: object) -> None:
        words = " ".join(str(answer)[:2_000].split())[:MAX_WORDS]
        super().__init__(f"the model answered nothing usable: {words or 'an empty body'}")


@dataclass(frozen=True, slots=True)
class Completion:
    """The model's text, and the tokens used: all, those of the prompt, and those of the answer. None: not told."""

    text: str
    total_tokens: int | None
    input_tokens: int | None = None
    output_tokens: int | None = None


class LLM(Protocol):
    """A language model as its callers see it."""

    async def complete(
        self, system: str, user: str, *, schema: Mapping[str, Any] | None = None, max_tokens: int = 1000
    ) -> Completion:
        """The model's answer. Raises LLMUnavailableError.

        With `schema`, the answer should be JSON of that schema: validate the answer in any case.
        """


class Provider(Protocol):
    """The connection to a provider's endpoint, by the provider's own library."""

    async def complete(
        self, system: str, user: str, *, max_tokens: int, schema: Mapping[str, Any] | None
    ) -> Completion:
        """The endpoint's answer. Raises LLMUnavailableError, and ProviderError for an error of the library."""

    async def close(self) -> None:
        """Closes the connections."""


class ProviderError(Exception):
    """An error of a provider's library. The message is the library's, and may quote the API key."""

    def __init__(self, error: Exception) -> None:
        super().__init__(f"{type(error).__name__}: {error}")


@dataclass(frozen=True, slots=True)
class TokenUsage:
    """The tokens of a completion, as the endpoint counts them; None: not told. `total` may count more than both."""

    total: int | None = None
    read: int | None = None
    written: int | None = None


def completion(text: object, used: TokenUsage, refusal: str | None = None) -> Completion:
    """The completion of a text that may be missing.

    Raises LLMUnavailableError for a refusal, EmptyCompletionError, and UnusableAnswerError for what is no text.
    """
    if text is not None and not isinstance(text, str):
        raise UnusableAnswerError(text)
    if text and text.strip():
        return Completion(text, used.total, used.read, used.written)
    if refusal:
        raise LLMUnavailableError(f"the model refused: {refusal}")
    raise EmptyCompletionError("the model's answer is empty")
