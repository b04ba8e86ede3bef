"""URLs of Redis: a single server (`redis://`, `rediss://`, `unix://`), or a cluster by some of its nodes."""

from typing import Final
from urllib.parse import urlsplit

QUEUE_IN_CLUSTER: Final = (
    "arq's job queues need a single Redis, and REDIS_URL is a cluster: set CONCORD_QUEUE_REDIS_URL to a single Redis"
)

_CLUSTER: Final = "+cluster"


def is_cluster(url: str) -> bool:
    """Whether a URL names a Redis Cluster: `redis+cluster://` or, with TLS, `rediss+cluster://`."""
    return urlsplit(url).scheme.endswith(_CLUSTER)


def node_urls(url: str) -> list[str]:
    """The URLs of the servers that a URL names, each with the credentials and options of the whole.

    A cluster's URL lists nodes with commas: `redis+cluster://:password@redis-0:6379,redis-1:6379`.
    """
    if not is_cluster(url):
        return [url]
    parts = urlsplit(url)
    credentials, at, nodes = parts.netloc.rpartition("@")
    scheme = parts.scheme.removesuffix(_CLUSTER)
    return [
        parts._replace(scheme=scheme, netloc=f"{credentials}{at}{node.strip()}").geturl()
        for node in nodes.split(",")
        if node.strip()
    ]
