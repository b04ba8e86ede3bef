"""The evaluator's settings, from the environment."""

import os
from typing import Annotated, Final

from pydantic import Field

from concord.service import StatefulServiceSettings
from concord.storage import Queue
from concord.storage.redis import WorkerPolicy
from concord_evaluator.worker import EvaluationLimits

_STEPS_PER_S: Final = 20_000
"""Steps that are read for each second of the job's limit: to read them takes half of it (`docs/benchmarks.md`)."""


class EvaluatorSettings(StatefulServiceSettings):
    """`REDIS_URL`, and `CONCORD_` variables for the rest; times in seconds."""

    job_timeout_fast_s: Annotated[float, Field(gt=0)] = 10
    job_timeout_llm_s: Annotated[float, Field(gt=0)] = 60
    """A killed worker's job is taken up again this long after it was started, and 3 s more."""
    max_jobs: Annotated[int, Field(ge=1)] = 4
    """Jobs that one worker has in hand at once."""
    max_tries: Annotated[int, Field(ge=1)] = 5
    """How often a job that meets passing faults is tried before it is a dead letter."""
    pool_processes: Annotated[int, Field(ge=1)] = os.cpu_count() or 1
    """Processes of one worker for CPU-bound work."""
    pool_memory_bytes: Annotated[int, Field(ge=256 * 1024 * 1024)] = 4 * 1024 * 1024 * 1024
    """What the data of each of them may take: a job that takes more fails."""
    completion_wait_s: Annotated[int, Field(ge=0, lt=10)] = 8
    """How long running jobs may take after SIGTERM: below the ten seconds after which containers are killed."""

    judge_samples: Annotated[int, Field(ge=1, le=9)] = 1
    """How often the language model judges each trial on the same evidence."""

    @property
    def pool_limit_s(self) -> float:
        """How long one call in a process may run: until its job, which comes back to it, has had all its tries."""
        return 2 * self.max_tries * self.job_timeout_fast_s

    @property
    def judge_deadline_s(self) -> float:
        """How long the model may take over a trial before the rules judge: within the job's own limit."""
        return 0.75 * self.job_timeout_llm_s

    @property
    def evaluation_limits(self) -> EvaluationLimits:
        """What one evaluation may take, so that it ends within its job's limit."""
        return EvaluationLimits(
            steps=max(1, round(_STEPS_PER_S * self.job_timeout_fast_s)), seconds=0.7 * self.job_timeout_fast_s
        )

    def policy(self, queue: Queue) -> WorkerPolicy:
        """How a worker of that queue treats its jobs."""
        return WorkerPolicy(
            timeout_s=self.job_timeout_fast_s if queue is Queue.FAST else self.job_timeout_llm_s,
            max_tries=self.max_tries,
            max_jobs=self.max_jobs,
            completion_wait_s=self.completion_wait_s,
        )
