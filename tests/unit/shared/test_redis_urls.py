"""URLs of Redis: single servers and clusters, and what the services' settings accept."""

import pytest

from concord.service.settings import StatefulServiceSettings
from concord.storage import is_cluster, node_urls


@pytest.mark.parametrize(
    ("url", "nodes"),
    [
        ("redis://:secret@one:6380/3", ["redis://:secret@one:6380/3"]),
        ("unix:///run/redis.sock", ["unix:///run/redis.sock"]),
        ("redis+cluster://one:6379", ["redis://one:6379"]),
        ("redis+cluster://one:1, two:2,", ["redis://one:1", "redis://two:2"]),
        (
            "rediss+cluster://user:p%2Cw@one:1,two:2?ssl_cert_reqs=none",
            ["rediss://user:p%2Cw@one:1?ssl_cert_reqs=none", "rediss://user:p%2Cw@two:2?ssl_cert_reqs=none"],
        ),
    ],
)
def test_a_url_names_one_server_or_the_nodes_of_a_cluster(url: str, nodes: list[str]) -> None:
    assert node_urls(url) == nodes
    assert is_cluster(url) == ("+cluster" in url)


@pytest.mark.parametrize(
    ("redis", "queue"),
    [
        ("redis+cluster://one:1", None),
        ("redis+cluster://one:1", "redis+cluster://two:1"),
        ("redis://one", "redis+cluster://two"),
    ],
)
def test_job_queues_in_a_cluster_are_refused(redis: str, queue: str | None) -> None:
    with pytest.raises(ValueError, match="CONCORD_QUEUE_REDIS_URL"):
        StatefulServiceSettings(redis_url=redis, queue_redis_url=queue)


def test_job_queues_may_be_beside_a_cluster(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_URL", "redis+cluster://one:1,two:1")
    monkeypatch.setenv("CONCORD_QUEUE_REDIS_URL", "redis://queue:6379/0")
    assert StatefulServiceSettings().queue_redis_url == "redis://queue:6379/0"
