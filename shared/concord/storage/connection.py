"""The one implementation of storage, under a name that does not tell which."""

from concord.storage.redis import LEASE_S, REQUEST_RETRY_S, WORK_RETRY_S, Storage, WorkerPolicy, connect, run_worker

__all__ = ["LEASE_S", "REQUEST_RETRY_S", "WORK_RETRY_S", "Storage", "WorkerPolicy", "connect", "run_worker"]
