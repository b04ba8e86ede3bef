"""Storage in Redis, and jobs in arq: the only package that imports either."""

from concord.storage.redis.connection import REQUEST_RETRY_S, WORK_RETRY_S, Storage, connect, servers
from concord.storage.redis.worker import run_worker

__all__ = ["REQUEST_RETRY_S", "WORK_RETRY_S", "Storage", "connect", "run_worker", "servers"]
