"""The criteria of scenarios: evaluates them from the record of a trial, and grades the assistant by them.

`evaluation`, which is not imported here, takes as long to import as all else that evaluates a trace from a file.
"""

from concord_evaluator.criteria.grading import grading_of
from concord_evaluator.criteria.size import MAX_RESULTS, MAX_STORED, shortened_results

__all__ = [
    "MAX_RESULTS",
    "MAX_STORED",
    "grading_of",
    "shortened_results",
]
