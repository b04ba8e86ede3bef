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


TASKS: Final = f"{PREFIX}:{{tasks}}"
"""Before the names of all that is kept of A2A tasks: scripts change several of these at once."""

RUNNING_TASKS: Final = f"{TASKS}:running"
"""The sorted set of the tasks that have not ended, by when they were accepted."""

BEGUN_TASKS: Final = f"{TASKS}:begun"
"""The hash of which message began which task, and by `BEGUN_AT` when."""

BEGUN_AT: Final = f"{TASKS}:begun-at"


def task(task_id: str) -> str:
    """The hash of an A2A task."""
    return f"{TASKS}:task:{task_id}"


def lease(task_id: str) -> str:
    """Which process works on a task; gone when it has not said so for a time."""
    return f"{TASKS}:lease:{task_id}"


def ended_tasks(kind: str) -> str:
    """The sorted set of ended tasks of a kind by when they ended."""
    return f"{TASKS}:ended:{kind}"


def ended_sizes(kind: str) -> str:
    """The hash of how many bytes each ended task of a kind takes, and under "" all of them."""
    return f"{TASKS}:sizes:{kind}"


def tasks_of(owner: str) -> str:
    """The sorted set of one caller's tasks by when they were changed."""
    return f"{TASKS}:owner:{owner}"


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
