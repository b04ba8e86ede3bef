"""State outside the processes: traces, registry, assessments and jobs. The only package that imports redis and arq."""

from concord.storage.connection import RETRIES_REQUEST, RETRIES_WORKER, Storage, connect
from concord.storage.ports import (
    OPEN_SCOPE,
    AgentRegistry,
    AssessmentStore,
    DeadLetter,
    Job,
    JobFunction,
    JobQueue,
    MemoryUse,
    OnDeadLetter,
    Queue,
    Quota,
    RegistryFullError,
    RetryLater,
    SecretStore,
    StorageUnavailableError,
    TraceFullError,
    TraceStore,
)
from concord.storage.worker import WorkerPolicy, run_worker

__all__ = [
    "OPEN_SCOPE",
    "RETRIES_REQUEST",
    "RETRIES_WORKER",
    "AgentRegistry",
    "AssessmentStore",
    "DeadLetter",
    "Job",
    "JobFunction",
    "JobQueue",
    "MemoryUse",
    "OnDeadLetter",
    "Queue",
    "Quota",
    "RegistryFullError",
    "RetryLater",
    "SecretStore",
    "Storage",
    "StorageUnavailableError",
    "TraceFullError",
    "TraceStore",
    "WorkerPolicy",
    "connect",
    "run_worker",
]
