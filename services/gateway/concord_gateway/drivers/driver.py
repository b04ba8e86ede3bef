"""What every driver gets and gives."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from concord.a2a import Messenger
from concord.assessment import AssessmentPlan, TaskSpec, TrialSpec
from concord.assignment import Assignment
from concord.results import TrialOutcome
from concord.storage import TraceStore
from concord_gateway.progress import Progress


@dataclass(frozen=True, slots=True)
class TrialContext:
    """One trial about to be driven; `budget_s` is the time it may take (seconds)."""

    plan: AssessmentPlan
    trial: TrialSpec
    task: TaskSpec
    assignment: Assignment
    messenger: Messenger
    traces: TraceStore
    progress: Progress
    budget_s: float


Driver = Callable[[TrialContext], Awaitable[TrialOutcome]]
"""Drives one trial to its end. Raises StorageUnavailableError; an agent's failure is an outcome."""
