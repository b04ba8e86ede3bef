"""Settings that every service has; each adds its own."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, SecretStr
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from concord.trust.declared_hosts import AllowedHosts


def _networks(value: object) -> object:
    """What was configured, taken apart."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)]
"""Comma-separated in the environment."""


class ServiceSettings(BaseSettings):
    """`CONCORD_LOG_LEVEL` and `CONCORD_LOG_FORMAT`: from the environment, as all that follow."""

    model_config = SettingsConfigDict(
        env_prefix="CONCORD_", env_ignore_empty=True, extra="ignore", validate_by_name=True, validate_by_alias=True
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "console", "json"] = "auto"


class StatefulServiceSettings(ServiceSettings):
    """Adds where state is, and what tokens are signed with."""

    redis_url: str = Field("redis://127.0.0.1:6379/0", validation_alias="REDIS_URL")
    """It has no prefix, since everything else that uses a Redis calls it so."""
    token_secret: SecretStr = SecretStr("")
    """Comma-separated: the first signs, all are good. Without it, the services of one Redis share one they made."""
    allowed_hosts: str = ""
    """Comma-separated networks and `host:port`: where agents may be, beside the open internet."""
    allowed_peer_networks: Networks = Field((), validation_alias="ALLOWED_PEER_NETWORKS")
    """What `allowed_hosts` was called when it took networks alone; both count."""

    @property
    def hosts(self) -> AllowedHosts:
        """What both settings name. Raises ValueError for what is neither a network nor `host:port`."""
        named = AllowedHosts.parse(self.allowed_hosts)
        return AllowedHosts((*named.networks, *self.allowed_peer_networks), named.exact)
