"""An assessment: the client's request, the plan, the roster, the jobs and the results."""

from concord.assessment.plan import AssessmentPlan, TimeLimits, TrialSpec, plan_trials, time_limits
from concord.assessment.request import AssessmentConfig, AssessmentRequest, Fraction, Mode, Thresholds, pattern_url
from concord.assessment.task_spec import MAX_PARTICIPANTS, MAX_TRIALS, InteractionPattern, PatternEdge, TaskSpec

__all__ = [
    "MAX_PARTICIPANTS",
    "MAX_TRIALS",
    "AssessmentConfig",
    "AssessmentPlan",
    "AssessmentRequest",
    "Fraction",
    "InteractionPattern",
    "Mode",
    "PatternEdge",
    "TaskSpec",
    "Thresholds",
    "TimeLimits",
    "TrialSpec",
    "pattern_url",
    "plan_trials",
    "time_limits",
]
