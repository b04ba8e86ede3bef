"""Settings that every service has; each adds its own."""

from typing import Literal

from pydantic_settings import BaseSettings, SettingsConfigDict


class ServiceSettings(BaseSettings):
    """From the environment: `REDIS_URL`, and `CONCORD_` variables for the rest."""

    model_config = SettingsConfigDict(env_prefix="CONCORD_", env_ignore_empty=True, extra="ignore")

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "console", "json"] = "auto"


class RedisSettings(BaseSettings):
    """`REDIS_URL`: where state is."""

    model_config = SettingsConfigDict(env_ignore_empty=True, extra="ignore")

    redis_url: str = "redis://127.0.0.1:6379/0"
