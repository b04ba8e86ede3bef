"""Which servers hold the state, and whether they are new enough."""

import re
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import urlsplit

from redis.asyncio.connection import parse_url

from concord.errors import StorageUnavailableError, UnusableServerError
from concord.storage.redis.connection import REQUEST_RETRY_S, info_of, open_state
from concord.storage.urls import QUEUE_IN_CLUSTER, is_cluster, node_urls

LOWEST: Final = (6, 2)
"""The lowest version of Redis that has every command in use: it is the first with GETEX and ZRANGE by score."""

_FORMS: Final = "redis://HOST:PORT/DATABASE, rediss:// with TLS, unix://PATH or redis+cluster://HOST:PORT,HOST:PORT"


async def servers(url: str, queue_url: str | None = None) -> list[str]:
    """The servers of a stack in words, such as "Redis 7.0.15 at 127.0.0.1:6379": that of the jobs last, if it differs.

    Raises UnusableServerError for one below `LOWEST` and for a URL that is none, StorageUnavailableError.
    """
    named = {"REDIS_URL": url, "CONCORD_QUEUE_REDIS_URL": queue_url or url}
    places = {name: _place(name, each) for name, each in named.items()}
    if is_cluster(named["CONCORD_QUEUE_REDIS_URL"]):
        raise UnusableServerError(QUEUE_IN_CLUSTER)
    if queue_url in {None, url}:
        del named["CONCORD_QUEUE_REDIS_URL"]
    return [await _server(name, each, places[name]) for name, each in named.items()]


async def _server(name: str, url: str, place: str) -> str:
    redis = open_state(url, retry_s=REQUEST_RETRY_S)
    try:
        nodes = await info_of(redis, "server")
    except StorageUnavailableError as error:
        raise StorageUnavailableError(f"no server answers at {name}: {error}") from error
    finally:
        await redis.aclose()
    oldest = min(nodes, key=_version)
    if (version := _version(oldest)) and version < LOWEST:
        raise UnusableServerError(
            f"{name}: {_named(oldest)} at {place} is too old: "
            f"Concord needs Redis {LOWEST[0]}.{LOWEST[1]} or newer, or any Valkey"
        )
    return f"{_named(oldest)} at {place}"


def _place(name: str, url: str) -> str:
    """Where the servers of a URL are, without its credentials. Raises UnusableServerError if it is no URL of Redis."""
    try:
        nodes = node_urls(url)
        for node in nodes:
            parse_url(node)
        if not nodes:
            raise ValueError
        return ", ".join((parts := urlsplit(node)).netloc.rpartition("@")[2] or parts.path for node in nodes)
    except ValueError:  # its text may quote a part of the credentials
        raise UnusableServerError(f"{name} is not a Redis URL: write {_FORMS}") from None


def _version(info: Mapping[str, Any]) -> tuple[int, ...]:
    """The version of Redis whose commands a server has: Valkey, too, says which."""
    return tuple(int(part) for part in re.findall(r"\d+", str(info.get("redis_version", "")))[:2])


def _named(info: Mapping[str, Any]) -> str:
    if "valkey_version" in info:
        return f"Valkey {info['valkey_version']}"
    return f"Redis {info.get('redis_version', 'of an unknown version')}"
