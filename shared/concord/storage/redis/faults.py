"""How Redis's faults become ours: a passing one is `StorageUnavailableError`, whatever its class over there."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import RedisError

from concord.storage.ports import StorageUnavailableError


@contextmanager
def storage_faults() -> Iterator[None]:
    """Raises StorageUnavailableError for anything that Redis or the way to it fails with inside the block."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise StorageUnavailableError(f"{type(error).__name__}: {error}") from error
