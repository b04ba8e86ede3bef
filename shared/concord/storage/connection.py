"""The one implementation of storage, under a name that does not tell which."""

from concord.storage.redis import REQUEST_RETRY_S, WORK_RETRY_S, Storage, connect, run_worker, servers

__all__ = ["REQUEST_RETRY_S", "WORK_RETRY_S", "Storage", "connect", "run_worker", "servers"]
