"""The pipeline: a trial's evaluators in the order of their needs, and what they make of its trace together."""

from importlib import import_module
from pkgutil import iter_modules

from concord_evaluator.pipeline.registry import (
    JUDGE,
    Contribution,
    TrialInput,
    evaluator,
    evaluator_ids,
    run_evaluators,
)
from concord_evaluator.pipeline.trial import evaluate_trial
from concord_evaluator.pipeline.verdict import verdict_on

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "JUDGE",
    "Contribution",
    "TrialInput",
    "evaluate_trial",
    "evaluator",
    "evaluator_ids",
    "run_evaluators",
    "verdict_on",
]
