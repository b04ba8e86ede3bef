"""The names of everything in Redis: one prefix, and one hash tag for all keys of a trace."""

from collections.abc import Iterator
from typing import Final

from concord.assessment import AssessmentPlan

PREFIX: Final = "concord:v1"

DEAD_LETTERS: Final = f"{PREFIX}:dead-letters"

TOKEN_SECRET: Final = f"{PREFIX}:token-secret"


def reports(trace_id: str) -> str:
    """The stream of a trace's report batches."""
    return f"{PREFIX}:{{{trace_id}}}:reports"


def seen(trace_id: str) -> str:
    """The hash of a trace's batch ids, each with the answer it was given."""
    return f"{PREFIX}:{{{trace_id}}}:seen"


def closing(trace_id: str) -> str:
    """The hash of when a trace was closed, and of the steps that came later by who sent them."""
    return f"{PREFIX}:{{{trace_id}}}:closing"


def refused(trace_id: str) -> str:
    """The hash of how many steps a trace refused, by who told them."""
    return f"{PREFIX}:{{{trace_id}}}:refused"


def assessment(assessment_id: str) -> str:
    """The hash of an assessment's documents."""
    return f"{PREFIX}:assessment:{assessment_id}"


def of_assessment(plan: AssessmentPlan) -> Iterator[str]:
    """All that is kept of an assessment: its documents, its agents and its traces."""
    yield assessment(plan.assessment_id)
    yield agents(plan.assessment_id)
    for trial in plan.trials:
        yield reports(trial.trace_id)
        yield seen(trial.trace_id)
        yield refused(trial.trace_id)


def answer(digest: str) -> str:
    """The answer of a language model to what has that digest."""
    return f"{PREFIX}:answer:{digest}"


def agents(scope: str) -> str:
    """The hash of a registry scope's agents."""
    return f"{PREFIX}:agents:{scope}"


def queue(name: str) -> str:
    """The sorted set that is a job queue's name to arq."""
    return f"{PREFIX}:queue:{name}"


def health(queue_name: str, worker: str) -> str:
    """The health record of one worker of a queue."""
    return f"{PREFIX}:health:{queue_name}:{worker}"
