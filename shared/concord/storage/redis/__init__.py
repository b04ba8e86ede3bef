"""Storage in Redis, and jobs in arq: the only package that imports either."""

from concord.storage.redis.connection import REQUEST_PATIENCE_S, WORK_PATIENCE_S, Storage, connect
from concord.storage.redis.worker import WorkerPolicy, run_worker

__all__ = ["REQUEST_PATIENCE_S", "WORK_PATIENCE_S", "Storage", "WorkerPolicy", "connect", "run_worker"]
