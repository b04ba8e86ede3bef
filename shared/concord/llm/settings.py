"""Where the language model is: the PRD's three variables and defaults."""

from pydantic import SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict


class LLMSettings(BaseSettings):
    """`AGENTBEATS_LLM_API_KEY`, `AGENTBEATS_LLM_BASE_URL`, `AGENTBEATS_LLM_MODEL`."""

    model_config = SettingsConfigDict(env_prefix="AGENTBEATS_LLM_", env_ignore_empty=True, extra="ignore")

    api_key: SecretStr | None = None
    base_url: str = "https://api.openai.com/v1"
    model: str = "gpt-4o-mini"
    timeout_s: float = 30.0

    @property
    def available(self) -> bool:
        """Whether there is a key to call the model with."""
        return self.api_key is not None
