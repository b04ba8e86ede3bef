"""State outside the processes: traces, registry, assessments and jobs. The only package that imports redis and arq."""

from concord.storage.connection import REQUEST_PATIENCE_S, WORK_PATIENCE_S, Storage, connect
from concord.storage.ports import (
    LATE_S,
    OPEN_SCOPE,
    AgentRegistry,
    AnswerCache,
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
    TraceClosedError,
    TraceFullError,
    TraceStore,
)
from concord.storage.quotas import MAX_STEPS, MAX_TRACE_BYTES, TraceLimits
from concord.storage.worker import WorkerPolicy, run_worker
from concord.tasks import StorageUnavailableError

__all__ = [
    "LATE_S",
    "MAX_STEPS",
    "MAX_TRACE_BYTES",
    "OPEN_SCOPE",
    "REQUEST_PATIENCE_S",
    "WORK_PATIENCE_S",
    "AgentRegistry",
    "AnswerCache",
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
    "TraceClosedError",
    "TraceFullError",
    "TraceLimits",
    "TraceStore",
    "WorkerPolicy",
    "connect",
    "run_worker",
]
