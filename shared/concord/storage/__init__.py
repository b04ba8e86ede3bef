"""State outside the processes: traces, registry, assessments and jobs. The only package that imports redis and arq."""

from concord.storage.connection import REQUEST_PATIENCE_S, WORK_PATIENCE_S, Storage, connect
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
    "REQUEST_PATIENCE_S",
    "WORK_PATIENCE_S",
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
