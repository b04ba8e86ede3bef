"""Settings common to all services."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import NoDecode, SettingsConfigDict

from concord.secret_files import SecretFileSettings
from concord.trust.declared_hosts import AllowedHosts


def _networks(value: object) -> object:
    """The parsed allowed hosts."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)]
"""Comma-separated in the environment."""


class ServiceSettings(SecretFileSettings):
    """`CONCORD_LOG_LEVEL` and `CONCORD_LOG_FORMAT`."""

    model_config = SettingsConfigDict(
        env_prefix="CONCORD_", env_ignore_empty=True, extra="ignore", validate_by_name=True, validate_by_alias=True
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "console", "json"] = "auto"


class StatefulServiceSettings(ServiceSettings):
    """Adds the settings for state and tokens."""

    redis_url: str = Field("redis://127.0.0.1:6379/0", validation_alias="REDIS_URL")
    """Without a prefix, by convention."""
    token_secret: SecretStr = SecretStr("")
    """Comma-separated: the first signs, all are accepted. By default, the services of one Redis share a generated one.
    """
    allowed_hosts: str = ""
    """Comma-separated networks and `host:port`: where agents may be, besides the public internet."""
    allowed_peer_networks: Networks = Field((), validation_alias="ALLOWED_PEER_NETWORKS")
    """The former name of `allowed_hosts`, for networks only; both count."""

    @property
    def hosts(self) -> AllowedHosts:
        """The hosts in both settings. Raises ValueError for anything but networks and `host:port`."""
        named = AllowedHosts.parse(self.allowed_hosts)
        return AllowedHosts((*named.networks, *self.allowed_peer_networks), named.exact)
