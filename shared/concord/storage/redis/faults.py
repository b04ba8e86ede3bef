"""Translates Redis faults into StorageUnavailableError."""

from collections.abc import Iterator
from contextlib import contextmanager

from redis.exceptions import OutOfMemoryError, RedisError, SlotNotCoveredError

from concord.errors import StorageFullError, StorageUnavailableError


@contextmanager
def storage_faults() -> Iterator[None]:
    """Raises StorageUnavailableError for any Redis or network error in the block, StorageFullError without memory."""
    try:
        yield
    except OutOfMemoryError as error:
        raise StorageFullError(f"{type(error).__name__}: {error}") from error
    except (RedisError, SlotNotCoveredError, OSError) as error:
        raise StorageUnavailableError(f"{type(error).__name__}: {error}") from error
