"""Storage in Redis, and jobs in arq: the only package that imports either."""

from concord.storage.redis.connection import REQUEST_RETRY_S, WORK_RETRY_S, Storage, connect
from concord.storage.redis.worker import LEASE_S, WorkerPolicy, run_worker

__all__ = ["LEASE_S", "REQUEST_RETRY_S", "WORK_RETRY_S", "Storage", "WorkerPolicy", "connect", "run_worker"]
