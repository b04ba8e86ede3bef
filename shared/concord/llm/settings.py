"""The language model's settings: provider, endpoint, key, model, timeout and retries."""

from typing import Annotated, Final, Literal, Self

from pydantic import Field, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from concord.secret_files import SecretFileSettings

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
