"""The language model's settings: endpoint, key, model, timeout and retries."""

from typing import Annotated

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class LLMSettings(BaseSettings):
    """`AGENTBEATS_LLM_API_KEY`, `_BASE_URL`, `_MODEL`, `_TIMEOUT_S` and `_MAX_RETRIES`."""

    model_config = SettingsConfigDict(env_prefix="AGENTBEATS_LLM_", env_ignore_empty=True, extra="ignore")

    api_key: SecretStr | None = None
    base_url: str = "https://api.openai.com/v1"
    model: str = "gpt-4o-mini"
    timeout_s: float = 30.0
    max_retries: Annotated[int, Field(ge=0, le=20)] | None = None
    """Retries for an endpoint that fails or is busy; None: the caller's default."""

    @property
    def available(self) -> bool:
        """Whether a key is configured."""
        return self.api_key is not None
