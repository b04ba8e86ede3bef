"""The fixtures of Concord's own tests that these tests need."""

from tests.kit.fixtures import redis_server, redis_url

__all__ = ["redis_server", "redis_url"]
