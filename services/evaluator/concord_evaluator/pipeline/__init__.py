"""The pipeline: runs the evaluators on the trace of a trial. `registry` lists the built-in ones.

A package adds an evaluator with an entry point in the group `concord.evaluators` that names an `Evaluator`:

    [project.entry-points."concord.evaluators"]
    mine = "my_package:EVALUATOR"
"""

from concord_evaluator.pipeline.evaluators import (
    EVALUATORS,
    JUDGE,
    Budget,
    Contribution,
    Evaluator,
    QuotedCall,
    Tier,
    TrialInput,
    evaluator,
    quoted_calls,
)
from concord_evaluator.pipeline.trial import evaluate_trial, task_text, without_garbage_collection
from concord_evaluator.pipeline.verdict import verdict_on, without_metrics

__all__ = [
    "EVALUATORS",
    "JUDGE",
    "Budget",
    "Contribution",
    "Evaluator",
    "QuotedCall",
    "Tier",
    "TrialInput",
    "evaluate_trial",
    "evaluator",
    "quoted_calls",
    "task_text",
    "verdict_on",
    "without_garbage_collection",
    "without_metrics",
]
