"""How jobs are run: time limits, retries, leases, and when a job is requested again or given up. Times in seconds."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Final

from concord.assessment.jobs import Queue
from concord.guarded_process import SERVICE_S
from concord.restarts import jittered_s

JOB_S: Final[Mapping[Queue, float]] = MappingProxyType({Queue.FAST: 10, Queue.LLM: 60})
"""The time limit of one attempt."""

MAX_TRIES: Final = 5
"""How often a job with transient faults is tried before it becomes a dead letter."""

CONCURRENT_JOBS: Final = 4
"""Jobs that one worker runs at once."""

LEASE_S: Final = 6.0
"""How long a worker holds a job without renewing its lease. Then the job of a killed worker is run again. A worker that
is merely late keeps on, since running a job twice is harmless."""

HEARTBEAT_S: Final = 2.0
"""How often a worker renews its queue's health record and the leases of its running jobs."""

HEALTHY_S: Final = 6.0
"""How long a health record lasts: a busy machine may delay a heartbeat by seconds."""

RECONNECT_S: Final = 1.0
"""The pause of a worker that has lost Redis."""

WORKERS_S: Final = 8.0
"""How long an assessment waits for workers at its start. Workers that start with it need a few seconds."""

REQUEST_AGAIN_S: Final = 5.0
"""How often the gateway requests a job again until its result exists. That restores a job that Redis lost."""

RESULT_S: Final = 120.0
"""How long the gateway waits for a job's result: long enough for another worker to take up a killed worker's job."""

_FIRST_PAUSE_S: Final = 0.5
"""Before the second try, at most."""


@dataclass(frozen=True, slots=True)
class WorkerPolicy:
    """How a worker runs its jobs."""

    timeout_s: float
    max_tries: int = MAX_TRIES
    max_jobs: int = CONCURRENT_JOBS
    completion_wait_s: int = SERVICE_S
    poll_s: float = 0.2
    """How often a waiting worker looks for jobs without word, such as those that are due again."""
    backoff_cap_s: float = 10.0
    heartbeat_file: Path | None = None
    """A file whose modification time is the worker's last sign of life, for a probe."""

    def pause_s(self, attempt: int) -> float:
        """The pause after a failed attempt, with jitter."""
        return jittered_s(attempt, _FIRST_PAUSE_S, self.backoff_cap_s)
