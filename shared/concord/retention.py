"""How long data is kept, and how much of it: one table for Redis, processes and files. Times in seconds."""

from typing import Final

_HOUR_S: Final = 3600
_DAY_S: Final = 24 * _HOUR_S

ASSESSMENT_S: Final = _DAY_S
"""An assessment that has not ended, with its traces: from the last write on."""

TRACES_SHARE: Final = 0.9
"""The part of Redis's memory limit up to which traces are stored. Tasks, jobs and rows have the rest to themselves."""

ENDED_ASSESSMENT_S: Final = _HOUR_S
"""An ended assessment, with its traces and its A2A task: the default of `CONCORD_KEEP_S`."""

ENDED_ASSESSMENTS: Final = 1000
"""Files of results in the output folder: the default of `CONCORD_KEEP_ASSESSMENTS`."""

LATE_S: Final = 300
"""The counting of late reports of a closed trial."""

OPEN_TRACE_S: Final = _DAY_S
"""A trace that belongs to no trial, after its last span: the default of `CONCORD_OPEN_RETENTION_S`, and its limit."""

OPEN_TRACES: Final = 10_000
OPEN_TRACES_BYTES: Final = 1024 * 1024 * 1024
"""Such traces, and their bytes uncompressed: the defaults of `CONCORD_OPEN_TRACES` and `CONCORD_OPEN_BYTES`."""

ABANDONED_TASK_S: Final = _DAY_S
"""An A2A task that has not ended, after its last version."""

ENDED_TASKS: Final = 1000
ENDED_TASKS_BYTES: Final = 16 * 1024 * 1024
"""Ended A2A tasks: their number and total size, compressed. Agents keep theirs in memory, the gateway in Redis."""

ENDED_TASK_S: Final = _HOUR_S
"""An ended A2A task of an agent, or one that waits for its client, in the agent's memory."""

REJECTED_TASKS: Final = 100
"""Rejected A2A tasks, counted apart because anybody can have messages rejected."""

BEGUN_TASKS: Final = 10_000
"""Messages that are remembered as beginnings of A2A tasks."""

UNSAVED_WEBHOOK_S: Final = 300
"""The webhook of an A2A task that is not stored yet. The task's first version prolongs it."""

MODEL_ANSWER_S: Final = ASSESSMENT_S
"""An answer of the language model in the judges' cache."""

REGISTRATION_S: Final = _HOUR_S
"""An agent's entry in a registry, unless the agent renews it."""

TOKEN_SECRET_S: Final = 7 * _DAY_S
"""The generated secret of tokens, from its last use on: longer than any token is valid."""

DEAD_LETTERS_S: Final = 7 * _DAY_S
"""Dead letters, from the last one on. The data of a letter's job expires sooner."""

DEAD_LETTERS: Final = 1000

IDLE_ENVIRONMENT_S: Final = 600
"""An environment without an assessment, for its A2A context: the default of `CONCORD_ENVIRONMENT_IDLE_S`."""
