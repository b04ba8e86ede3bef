"""The edge of the evaluator: its jobs, the storage they work on, and the processes in which they compute."""

from concord_evaluator.worker.jobs import EvaluatorJobs
from concord_evaluator.worker.pool import JobTooLargeError, ProcessPool
from concord_evaluator.worker.pool_functions import EvaluationLimits

__all__ = ["EvaluationLimits", "EvaluatorJobs", "JobTooLargeError", "ProcessPool"]
