"""The ports behind which state lives: what the services ask of storage, whatever keeps it."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, Protocol

from pydantic import JsonValue

from concord.assessment import AssessmentPlan
from concord.assessment.roster import RosterEntry
from concord.trace.report import BatchReceipt, ReportBatch


class StorageUnavailableError(Exception):
    """Storage cannot be reached or refuses writes: try again later; nothing was stored."""


class TraceFullError(Exception):
    """A trace takes no more of a reporter: what came last was not stored, and will not be."""


class TraceClosedError(Exception):
    """The trial of a trace is over, and so is the time in which what comes late is counted."""


class RegistryFullError(Exception):
    """A registry scope has as many agents as it takes."""


class Queue(StrEnum):
    """The two job queues: quick CPU-bound work, and work that waits for a language model."""

    FAST = "fast"
    LLM = "llm"


@dataclass(frozen=True, slots=True)
class Job:
    """A call of `function` with JSON arguments. A second job with a pending one's id is not queued."""

    function: str
    job_id: str
    queue: Queue
    arguments: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that failed for good, and its last error."""

    letter_id: str
    job: Job
    error: str


@dataclass(frozen=True, slots=True)
class Quota:
    """What a batch counts for, and the sums that a trace takes of those who count together (`account`).

    `cost` and `limit` in bytes; `steps` and `max_steps` in steps.
    """

    account: str
    cost: int
    limit: int
    steps: int
    max_steps: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """How much memory storage uses, and how much it may (bytes; None: nobody set a bound)."""

    used: int
    limit: int | None


LATE_S: Final = 300
"""Seconds after its trial was closed in which what a participant reports is counted as late."""


class TraceStore(Protocol):
    """Report batches by trace: appended once per batch id, read in order of arrival.

    Once a trace is closed, what participants report is not stored any more: for `LATE_S` its steps are counted.
    """

    async def append(
        self, batch: ReportBatch, receipt: BatchReceipt, *, quota: Quota | None = None
    ) -> BatchReceipt | None:
        """Stores a batch with its answer, in one step.

        Returns None, or the first answer to a batch id that the same reporter used before, or that it came late. Raises
        StorageUnavailableError, TraceClosedError, and TraceFullError beyond the quota: nothing is trimmed to make room,
        and what the batch told of counts as `refused`.
        """

    async def refused(self, trace_id: str) -> Mapping[str, int]:
        """By account, the steps that a trace refused beyond a quota, and those that the refused batches told as
        dropped. Raises StorageUnavailableError."""

    def batches(self, trace_id: str) -> AsyncIterator[ReportBatch]:
        """All batches of a trace, oldest first. Raises StorageUnavailableError."""

    def entries(self, trace_id: str, after: str = "") -> AsyncIterator[tuple[str, ReportBatch]]:
        """The batches of a trace with their places, from behind the place `after`. Raises StorageUnavailableError."""

    async def length(self, trace_id: str) -> int:
        """How many batches a trace has. Raises StorageUnavailableError."""

    async def close(self, trace_id: str) -> None:
        """Closes a trace to its participants. Raises StorageUnavailableError."""

    async def is_closed(self, trace_id: str) -> bool:
        """Whether a trace was closed. Raises StorageUnavailableError."""

    async def late(self, trace_id: str) -> dict[str, int]:
        """How many steps came after a trace was closed, by the account of who sent them (see `Quota`).

        Raises StorageUnavailableError.
        """


class AgentRegistry(Protocol):
    """Who can be reached, by scope: an assessment's id, or `OPEN_SCOPE` for agents that registered themselves."""

    async def register(self, scope: str, entries: Sequence[RosterEntry], *, by: str = "") -> float:
        """Adds or renews entries, and returns after how many seconds they are forgotten unless renewed.

        Raises RegistryFullError where the scope is full, or has as many as it takes of one caller (`by`).
        """

    async def agents(self, scope: str) -> list[RosterEntry]:
        """The entries of a scope, sorted by id; empty where there is no such scope."""


OPEN_SCOPE = "open"


class AssessmentStore(Protocol):
    """An assessment's plan, the evaluation of its trials by stage, and its row."""

    async def save_plan(self, plan: AssessmentPlan) -> None:
        """Stores what an assessment consists of, before its first trial."""

    async def plan(self, assessment_id: str) -> AssessmentPlan | None:
        """The plan of an assessment, or None where there is none."""

    async def plan_revision(self, assessment_id: str) -> int:
        """How often the plan of an assessment was stored: it changes where a trial is begun anew."""

    async def save(self, assessment_id: str, name: str, document: str) -> None:
        """Stores a JSON document under a name of the assessment, replacing what was there."""

    async def retire(self, plan: AssessmentPlan, keep_s: int, *, tokens_s: int = 0) -> None:
        """Has all that is kept of an assessment that has ended forgotten in `keep_s` seconds.

        `tokens_s`: for how long its participants' tokens are still valid. Until then its traces stay closed.
        """

    async def load(self, assessment_id: str, name: str) -> str | None:
        """The JSON document of that name, or None."""

    async def load_all(self, assessment_id: str, names: Sequence[str]) -> list[str | None]:
        """The JSON documents of those names, each None where there is none."""


class AnswerCache(Protocol):
    """Answers of a language model by the digest of what it was asked; forgotten after a time, or earlier."""

    async def get(self, key: str) -> str | None:
        """The answer, or None. Raises StorageUnavailableError."""

    async def put(self, key: str, answer: str) -> None:
        """Keeps an answer for a time. Raises StorageUnavailableError."""


class SecretStore(Protocol):
    """The secret that the services of one stack sign tokens with, where none was configured."""

    async def token_secret(self) -> str:
        """The secret; made by the first to ask, the same for all. Raises StorageUnavailableError."""


class JobQueue(Protocol):
    """Jobs for the evaluator's workers, run at least once."""

    async def enqueue(self, job: Job) -> bool:
        """Queues a job. False: one with this id is already pending."""

    async def depth(self, queue: Queue) -> int:
        """How many jobs wait in a queue or run."""

    async def oldest_s(self, queue: Queue) -> float:
        """How long the oldest of them has been due (seconds); 0 where there is none."""

    async def dead_letters(self) -> list[DeadLetter]:
        """The jobs that failed for good, oldest first."""

    async def replay(self, letter: DeadLetter) -> None:
        """Queues a dead letter's job again and forgets the letter."""


JobFunction = Callable[[Mapping[str, JsonValue]], Awaitable[None]]
"""What a worker runs: it gets a job's arguments. Raising `RetryLater` tries again; anything else is final."""

OnDeadLetter = Callable[[Job, str], Awaitable[None]]
"""Told of a job that failed for good, and why, so that whoever waits for it can be told too."""


class RetryLater(Exception):  # noqa: N818 - an instruction to the queue, not an error of its own
    """The job met a passing fault: run it again after a backoff."""
