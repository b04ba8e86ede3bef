"""The worker: the evaluator's jobs over storage, and the process pool that they compute in."""

from concord_evaluator.worker.jobs import EvaluatorJobs
from concord_evaluator.worker.pool import JobTooLargeError, ProcessPool
from concord_evaluator.worker.pool_functions import EvaluationLimits

__all__ = ["EvaluationLimits", "EvaluatorJobs", "JobTooLargeError", "ProcessPool"]
