"""The evaluator's settings, from the environment."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final

from pydantic import Field

from concord.assessment.jobs import Queue, Samples
from concord.guarded_process import SERVICE_S
from concord.service.settings import StatefulServiceSettings
from concord.storage.job_policy import CONCURRENT_JOBS, JOB_S, MAX_TRIES, WorkerPolicy

# The limits of one evaluation.


@dataclass(frozen=True, slots=True)
class EvaluationLimits:
    """`steps`: how many an evaluation reads at most; `seconds`: after these it starts nothing optional."""

    steps: int
    seconds: float


# The settings.

_STEPS_PER_S: Final = 20_000
"""Steps that an evaluation reads per second of the job's limit. Reading takes half of it (`docs/benchmarks.md`)."""


class EvaluatorSettings(StatefulServiceSettings):
    """`REDIS_URL`, and `CONCORD_` variables for the rest; times in seconds."""

    job_timeout_fast_s: Annotated[float, Field(gt=0)] = JOB_S[Queue.FAST]
    job_timeout_llm_s: Annotated[float, Field(gt=0)] = JOB_S[Queue.LLM]
    max_jobs: Annotated[int, Field(ge=1)] = CONCURRENT_JOBS
    """Jobs that one worker runs at once."""
    max_tries: Annotated[int, Field(ge=1)] = MAX_TRIES
    """How often a job with transient faults is tried before it becomes a dead letter."""
    pool_processes: Annotated[int, Field(ge=1)] = max(2, os.cpu_count() or 1)
    """Processes per worker for CPU-bound work, of which one trial may use half."""
    pool_memory_bytes: Annotated[int, Field(ge=256 * 1024 * 1024)] = 4 * 1024 * 1024 * 1024
    """Bytes of data that each process may allocate. A job that needs more fails."""
    completion_wait_s: Annotated[int, Field(ge=0, lt=10)] = SERVICE_S
    """How long running jobs may go on after SIGTERM. Container engines kill after ten seconds."""

    heartbeat_file: Path | None = None
    """A file that the worker touches every two seconds."""

    judge_samples: Samples = 1
    """How many times the language model judges each trial, on the same evidence."""

    @property
    def pool_cpu_s(self) -> float:
        """CPU time of one call in a process (s). An evaluation takes less than a third of it, plug-ins apart."""
        return 3 * self.job_timeout_fast_s

    @property
    def pool_limit_s(self) -> float:
        """How long one call in a process may run (s). Retries of a job wait for the same call, so all tries count."""
        return 2 * self.max_tries * self.job_timeout_fast_s

    @property
    def judge_deadline_s(self) -> float:
        """How long the model may take for a trial before the rules judge instead (s). Less than the job's limit."""
        return 0.75 * self.job_timeout_llm_s

    @property
    def evaluation_limits(self) -> EvaluationLimits:
        """The limits of one evaluation, so that it ends within the job's limit."""
        return EvaluationLimits(
            steps=max(1, round(_STEPS_PER_S * self.job_timeout_fast_s)), seconds=0.7 * self.job_timeout_fast_s
        )

    def policy(self, queue: Queue) -> WorkerPolicy:
        """The job policy of a worker on that queue."""
        return WorkerPolicy(
            timeout_s=self.job_timeout_fast_s if queue is Queue.FAST else self.job_timeout_llm_s,
            max_tries=self.max_tries,
            max_jobs=self.max_jobs,
            completion_wait_s=self.completion_wait_s,
            heartbeat_file=self.heartbeat_file,
        )
