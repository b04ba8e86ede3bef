"""The Redis keys: one prefix for all, and one hash tag for the keys of a trace."""

from collections.abc import Iterator
from typing import Final

from concord.assessment import AssessmentPlan

PREFIX: Final = "concord:v1"

DEAD_LETTERS: Final = f"{PREFIX}:dead-letters"

TOKEN_SECRET: Final = f"{PREFIX}:token-secret"


def reports(trace_id: str) -> str:
    """Stream: a trace's report batches."""
    return f"{PREFIX}:{{{trace_id}}}:reports"


def seen(trace_id: str) -> str:
    """Hash: a trace's batch ids and their receipts."""
    return f"{PREFIX}:{{{trace_id}}}:seen"


def closing(trace_id: str) -> str:
    """Hash: when a trace was closed, and its late steps by account."""
    return f"{PREFIX}:{{{trace_id}}}:closing"


def refused(trace_id: str) -> str:
    """Hash: a trace's refused steps by account."""
    return f"{PREFIX}:{{{trace_id}}}:refused"


def trial(trace_id: str) -> str:
    """String: present if the trace belongs to a trial."""
    return f"{PREFIX}:{{{trace_id}}}:trial"


OPEN_TRACES: Final = f"{PREFIX}:{{open}}:traces"
"""Sorted set: the open traces, by the arrival of their last spans."""

OPEN_FACTS: Final = f"{PREFIX}:{{open}}:facts"
"""Hash: the first arrival, bytes, spans and services of each open trace, and the sum of all bytes."""


def assessment(assessment_id: str) -> str:
    """Hash: an assessment's documents."""
    return f"{PREFIX}:assessment:{assessment_id}"


def of_assessment(plan: AssessmentPlan) -> Iterator[str]:
    """The keys of an assessment: its documents, its agents and its traces."""
    yield assessment(plan.assessment_id)
    yield agents(plan.assessment_id)
    for trial in plan.trials:
        yield reports(trial.trace_id)
        yield seen(trial.trace_id)
        yield refused(trial.trace_id)


TASKS: Final = f"{PREFIX}:{{tasks}}"
"""The common hash tag of all task keys: scripts change several of them at once."""

RUNNING_TASKS: Final = f"{TASKS}:running"
"""Sorted set: tasks that have not ended, by when they were accepted."""

BEGUN_TASKS: Final = f"{TASKS}:begun"
"""Hash: the task that each message began. `BEGUN_AT` has the times."""

BEGUN_AT: Final = f"{TASKS}:begun-at"


def task(task_id: str) -> str:
    """Hash: an A2A task."""
    return f"{TASKS}:task:{task_id}"


WEBHOOKS: Final = ":webhooks"
"""The suffix of the key of a task's webhooks, which begins with the key of the task."""


def webhooks(task_id: str) -> str:
    """Hash: the webhooks of an A2A task."""
    return f"{task(task_id)}{WEBHOOKS}"


def lease(task_id: str) -> str:
    """String: the process that works on a task. Expires unless renewed."""
    return f"{TASKS}:lease:{task_id}"


def ended_tasks(kind: str) -> str:
    """Sorted set: ended tasks of a kind, by when they ended."""
    return f"{TASKS}:ended:{kind}"


def ended_sizes(kind: str) -> str:
    """Hash: the size of each ended task of a kind (bytes), and their sum under ""."""
    return f"{TASKS}:sizes:{kind}"


def tasks_of(listed_by: str) -> str:
    """Sorted set: the tasks of an owner, or of an anonymous client's context, by when they changed."""
    return f"{TASKS}:owner:{listed_by}"


def answer(digest: str) -> str:
    """String: the language model's answer to the prompt with that digest."""
    return f"{PREFIX}:answer:{digest}"


def agents(scope: str) -> str:
    """Hash: the agents of a registry scope."""
    return f"{PREFIX}:agents:{scope}"


def queue(name: str) -> str:
    """Sorted set: a job queue, as arq names it."""
    return f"{PREFIX}:queue:{name}"


def due(queue_name: str) -> str:
    """List: an entry for each job that was queued, which wakes a worker that waits for one. Expires."""
    return f"{PREFIX}:due:{queue_name}"


def ended_jobs(assessment_id: str) -> str:
    """Channel: the ids of an assessment's jobs that have ended."""
    return f"{PREFIX}:ended-jobs:{assessment_id}"


def health(queue_name: str) -> str:
    """String: the health record that all workers of a queue share, with their note. Expires unless one renews it."""
    return f"{PREFIX}:health:{queue_name}"
