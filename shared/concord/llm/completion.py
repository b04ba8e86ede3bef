"""A model's completion, the errors in place of one, and the interface of the providers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Final, Literal, Protocol, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from concord.secret_files import SecretFileSettings

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


# The language model's settings: provider, endpoint, key, model, timeout and retries.

NO_KEY: Final = "AGENTBEATS_LLM_API_KEY is not set"
"""Why there is no model without a key."""

ProviderName = Literal["openai", "anthropic", "google"]
"""`openai`: any endpoint with OpenAI's protocol."""

_ENDPOINTS: Final[dict[ProviderName, str]] = {
    "openai": "https://api.openai.com/v1",
    "anthropic": "https://api.anthropic.com",
    "google": "https://generativelanguage.googleapis.com",
}


class LLMSettings(SecretFileSettings):
    """`AGENTBEATS_LLM_PROVIDER`, `_API_KEY`, `_BASE_URL`, `_MODEL`, `_TIMEOUT_S` and `_MAX_RETRIES`."""

    model_config = SettingsConfigDict(env_prefix="AGENTBEATS_LLM_", env_ignore_empty=True, extra="ignore")

    provider: ProviderName = "openai"
    api_key: SecretStr | None = None
    base_url: str = ""
    """Empty: the provider's own endpoint."""
    model: str = "gpt-4o-mini"
    timeout_s: float = 30.0
    max_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """Retries for an endpoint that fails or is busy; None: the caller's default."""

    @model_validator(mode="after")
    def _has_model(self) -> Self:
        if self.provider != "openai" and "model" not in self.model_fields_set:
            raise ValueError(f"AGENTBEATS_LLM_MODEL is not set: the provider {self.provider} has no default model")
        return self

    @property
    def available(self) -> bool:
        """Whether a key is configured."""
        return self.api_key is not None

    @property
    def endpoint(self) -> str:
        """The endpoint's URL."""
        return self.base_url or _ENDPOINTS[self.provider]
