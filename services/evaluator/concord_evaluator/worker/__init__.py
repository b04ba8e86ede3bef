"""The worker: the evaluator's jobs over storage, and the functions that they compute with in a process pool."""

from concord_evaluator.worker.jobs import EvaluatorJobs
from concord_evaluator.worker.pool_functions import EvaluationLimits

__all__ = ["EvaluationLimits", "EvaluatorJobs"]
