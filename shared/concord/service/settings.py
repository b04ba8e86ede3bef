"""Settings common to all services."""

from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, SecretStr, model_validator
from pydantic_settings import NoDecode, SettingsConfigDict

from concord.secret_files import SecretFileSettings
from concord.storage import QUEUE_IN_CLUSTER, is_cluster
from concord.trust.urls import AllowedHosts


def _networks(value: object) -> object:
    """The parsed allowed hosts."""
    return [part.strip() for part in value.split(",") if part.strip()] if isinstance(value, str) else value


Networks = Annotated[tuple[IPv4Network | IPv6Network, ...], NoDecode, BeforeValidator(_networks)]
"""Comma-separated in the environment."""


class ServiceSettings(SecretFileSettings):
    """`CONCORD_LOG_LEVEL` and `CONCORD_LOG_FORMAT`."""

    model_config = SettingsConfigDict(
        env_prefix="CONCORD_",
        env_ignore_empty=True,
        extra="ignore",
        validate_by_name=True,
        validate_by_alias=True,
        hide_input_in_errors=True,
    )

    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    log_format: Literal["auto", "console", "json"] = "auto"


class StatefulServiceSettings(ServiceSettings):
    """Adds the settings for state and tokens."""

    redis_url: str = Field("redis://127.0.0.1:6379/0", validation_alias="REDIS_URL")
    """Without a prefix, by convention. `redis+cluster://` with several nodes is a Redis Cluster."""
    queue_redis_url: str | None = None
    """The single Redis of the job queues, by default that of everything else."""
    token_secret: SecretStr = SecretStr("")
    """Comma-separated: the first signs, all are accepted. By default, the services of one Redis share a generated one.
    """
    allowed_hosts: str = ""
    """Comma-separated networks and `host:port`: where agents may be, besides the public internet."""
    allowed_peer_networks: Networks = Field((), validation_alias="ALLOWED_PEER_NETWORKS")
    """The former name of `allowed_hosts`, for networks only; both count."""

    @model_validator(mode="after")
    def _queues_are_in_a_single_redis(self) -> Self:
        if is_cluster(self.queue_redis_url or self.redis_url):
            raise ValueError(QUEUE_IN_CLUSTER)
        return self

    @property
    def hosts(self) -> AllowedHosts:
        """The hosts in both settings. Raises ValueError for anything but networks and `host:port`."""
        named = AllowedHosts.parse(self.allowed_hosts)
        return AllowedHosts((*named.networks, *self.allowed_peer_networks), named.exact)
