"""The ports of storage: what services need from it, whatever implements it. `concord.storage.connection` opens them."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol
from urllib.parse import urlsplit

from pydantic import JsonValue

from concord.assessment import AssessmentPlan
from concord.assessment.jobs import Job, Queue
from concord.trace.report import BatchReceipt, ReportBatch
from concord.wire.roster import RosterEntry

# URLs of Redis: a single server (`redis://`, `rediss://`, `unix://`), or a cluster by some of its nodes.

QUEUE_IN_CLUSTER: Final = (
    "arq's job queues need a single Redis, and REDIS_URL is a cluster: set CONCORD_QUEUE_REDIS_URL to a single Redis"
)

_CLUSTER: Final = "+cluster"


def is_cluster(url: str) -> bool:
    """Whether a URL names a Redis Cluster: `redis+cluster://` or, with TLS, `rediss+cluster://`."""
    return urlsplit(url).scheme.endswith(_CLUSTER)


def node_urls(url: str) -> list[str]:
    """The URLs of the servers that a URL names, each with the credentials and options of the whole.

    A cluster's URL lists nodes with commas: `redis+cluster://:password@redis-0:6379,redis-1:6379`.
    """
    if not is_cluster(url):
        return [url]
    parts = urlsplit(url)
    credentials, at, nodes = parts.netloc.rpartition("@")
    scheme = parts.scheme.removesuffix(_CLUSTER)
    return [
        parts._replace(scheme=scheme, netloc=f"{credentials}{at}{node.strip()}").geturl()
        for node in nodes.split(",")
        if node.strip()
    ]


# The ports.


class TraceFullError(Exception):
    """A reporter's quota for a trace is exhausted; the batch was not stored."""


class TraceClosedError(Exception):
    """The trial was closed more than `retention.LATE_S` ago."""


class RegistryFullError(Exception):
    """A registry scope has the maximum number of agents."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A job that failed permanently, and its last error."""

    letter_id: str
    job: Job
    error: str


@dataclass(frozen=True, slots=True)
class Quota:
    """The share of a batch in the quota of its account: `cost` of `limit` bytes, `steps` of `max_steps`."""

    account: str
    cost: int
    limit: int
    steps: int
    max_steps: int


@dataclass(frozen=True, slots=True)
class MemoryUse:
    """Storage's memory use and its limit (bytes; None: no limit)."""

    used: int
    limit: int | None


@dataclass(frozen=True, slots=True)
class ClosedTrace:
    """What a closed trace holds: the number of its batches, and the refused steps by account."""

    batches: int
    refused: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The steps of a trace that are in no batch, by account: those that came after it was closed, and the refused."""

    late: Mapping[str, int]
    refused: Mapping[str, int]


class TraceStore(Protocol):
    """Report batches by trace, appended once per batch id and read in order of arrival.

    Once a trace is closed, participants' reports are no longer stored; their steps are counted for `retention.LATE_S`.
    """

    async def append(
        self, batch: ReportBatch, receipt: BatchReceipt, *, quota: Quota | None = None
    ) -> BatchReceipt | None:
        """Stores a batch and its receipt, atomically.

        Returns None, or the earlier receipt if the reporter used this batch id before, or a receipt saying that the
        batch came late. Raises StorageUnavailableError, TraceClosedError, and TraceFullError beyond the quota: nothing
        is evicted, and the batch's steps count as `refused`.
        """

    async def refused(self, trace_id: str) -> Mapping[str, int]:
        """By account, the steps refused for exceeding a quota, including those that refused batches reported as
        dropped. Raises StorageUnavailableError."""

    def batches(self, trace_id: str) -> AsyncIterator[ReportBatch]:
        """All batches of a trace, oldest first. Raises StorageUnavailableError."""

    def entries(self, trace_id: str, after: str = "") -> AsyncIterator[tuple[str, ReportBatch]]:
        """The batches of a trace after the position `after`, each with its position. Raises StorageUnavailableError."""

    async def length(self, trace_id: str) -> int:
        """The number of batches in a trace. Raises StorageUnavailableError."""

    async def delete(self, trace_id: str) -> None:
        """Deletes a trace. Raises StorageUnavailableError."""

    async def close(self, trace_id: str) -> ClosedTrace:
        """Closes a trace to participants, if it is not closed yet. Raises StorageUnavailableError."""

    async def is_closed(self, trace_id: str) -> bool:
        """Whether a trace is closed. Raises StorageUnavailableError."""

    async def late(self, trace_id: str) -> dict[str, int]:
        """The number of steps that arrived after a trace was closed, by account (see `Quota`).

        Raises StorageUnavailableError.
        """

    async def left_out(self, trace_ids: Sequence[str]) -> list[LeftOut]:
        """What `late` and `refused` say of each of the traces. Raises StorageUnavailableError."""


@dataclass(frozen=True, slots=True)
class OpenTrace:
    """A trace that belongs to no trial: the arrival of its first and its last spans (seconds since 1970), the number
    of its spans, and the names of its services."""

    trace_id: str
    first_s: float
    last_s: float
    n_spans: int
    services: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OpenTraceLimits:
    """The limits of open traces: number, time after the last span (seconds), and uncompressed bytes."""

    max_traces: int
    retention_s: int
    max_bytes: int


class OpenTraces(Protocol):
    """The index of the traces that belong to no trial. Their batches are in the `TraceStore`."""

    async def add(
        self, trace_id: str, service: str, *, n_bytes: int, n_spans: int, limits: OpenTraceLimits
    ) -> list[str]:
        """Counts spans of a trace by one of its services. Removes the oldest traces beyond the limits from the index,
        and returns them. Raises StorageUnavailableError."""

    async def list(self, since: float = 0.0) -> list[OpenTrace]:
        """The traces with spans since a time (seconds since 1970), by their last spans.

        Raises StorageUnavailableError.
        """

    async def contains(self, trace_id: str) -> bool:
        """Whether the trace is in the index. Raises StorageUnavailableError."""


class AgentRegistry(Protocol):
    """Reachable agents by scope: an assessment's id, or `OPEN_SCOPE` for agents that registered themselves."""

    async def register(self, scope: str, entries: Sequence[RosterEntry], *, by: str = "") -> float:
        """Adds or renews entries; returns the seconds until they expire.

        Raises RegistryFullError if the scope is full, or holds the maximum number of entries from the caller `by`.
        """

    async def agents(self, scope: str) -> list[RosterEntry]:
        """The entries of a scope, sorted by id; empty for an unknown scope."""


OPEN_SCOPE = "open"


class AssessmentStore(Protocol):
    """The documents of an assessment: its plan, the evaluation of its trials by stage, and its row."""

    async def save_plan(self, plan: AssessmentPlan) -> None:
        """Stores a plan, before the first trial or with a new trace for a trial."""

    async def plan(self, assessment_id: str) -> AssessmentPlan | None:
        """The plan of an assessment, or None."""

    async def has_trial(self, trace_id: str) -> bool:
        """Whether a trace belongs to a planned trial."""

    async def plan_revision(self, assessment_id: str) -> int:
        """How often the plan was stored. It changes when a trial is run again."""

    async def save(self, assessment_id: str, name: str, document: str) -> None:
        """Stores a JSON document under a name, replacing any earlier one."""

    async def save_all(self, assessment_id: str, documents: Mapping[str, str]) -> None:
        """The same for several documents by their names, at once."""

    async def save_once(self, assessment_id: str, name: str, document: str, *, instead_of: str | None = None) -> str:
        """Stores a JSON document under a name, unless there is one other than `instead_of`.

        Returns the document that is stored then.
        """

    async def retire(self, plan: AssessmentPlan, keep_s: int, *, tokens_s: int = 0) -> None:
        """Lets everything about an ended assessment expire in `keep_s` seconds.

        `tokens_s` is the remaining validity of its participants' tokens: its traces stay closed until then.
        """

    async def stored_bytes(self, plan: AssessmentPlan) -> int:
        """The memory that everything stored of an assessment takes (bytes). Raises StorageUnavailableError."""

    async def load(self, assessment_id: str, name: str) -> str | None:
        """The JSON document of that name, or None."""

    async def load_all(self, assessment_id: str, names: Sequence[str]) -> list[str | None]:
        """The JSON documents of those names, None for each that does not exist."""


class AnswerCache(Protocol):
    """A cache of language model answers, by the digest of the prompt. Entries expire or are evicted."""

    async def get(self, key: str) -> str | None:
        """The cached answer, or None. Raises StorageUnavailableError."""

    async def put(self, key: str, answer: str) -> None:
        """Caches an answer. Raises StorageUnavailableError."""


class SecretStore(Protocol):
    """The secret for signing tokens, shared by the services of one stack, if none is configured."""

    async def token_secret(self) -> str:
        """The secret. The first call creates it. Raises StorageUnavailableError."""


class JobQueue(Protocol):
    """Jobs for the evaluator's workers, run at least once."""

    async def enqueue(self, job: Job) -> bool:
        """Queues a job. Returns False if a job with this id is pending."""

    async def depth(self, queue: Queue) -> int:
        """The number of jobs in a queue, waiting or running."""

    async def worker_note(self, queue: Queue) -> str | None:
        """What the workers of the queue say of themselves; None if none was alive within the last six seconds."""

    async def oldest_s(self, queue: Queue) -> float:
        """How long the oldest job has been due (seconds); 0 for an empty queue."""

    async def count_dead_letters(self) -> int:
        """The number of dead letters."""

    async def dead_letters(self) -> list[DeadLetter]:
        """The jobs that failed permanently, oldest first."""

    async def replay(self, letter: DeadLetter) -> None:
        """Queues a dead letter's job again and deletes the letter."""


JobFunction = Callable[[Mapping[str, JsonValue]], Awaitable[None]]
"""A worker's function: it gets a job's arguments. `RetryLater` requests a retry; any other exception is final."""

OnDeadLetter = Callable[[Job, str, Exception | None], Awaitable[None]]
"""Called with each job that failed permanently, its error in words, and what it raised; None if its worker died."""


class RetryLater(Exception):  # noqa: N818 - an instruction to the queue, not an error of its own
    """A transient fault: the job is to run again after a backoff."""


# Quotas: the limits of a reporter in a trace, and how batches count towards them.

MAX_TRACE_BYTES: Final = 64 * 1024 * 1024
MAX_STEPS: Final = 200_000

_MOST_SHRUNK: Final = 16
"""The highest compression ratio that is credited: otherwise a trace could inflate without limit."""


@dataclass(frozen=True, slots=True)
class TraceLimits:
    """The limits of one reporter in a trace: compressed bytes, and steps, nested steps included."""

    max_bytes: int = MAX_TRACE_BYTES
    max_steps: int = MAX_STEPS

    def quota(self, batch: ReportBatch, receipt: BatchReceipt, inflated: int) -> Quota:
        """The quota of a batch; `inflated` is the size of its JSON body (bytes). An empty batch counts as one step."""
        reasons = sum(len(each.reason) for each in receipt.rejected)
        return Quota(
            account=batch.account,
            cost=max(len(batch.body), inflated // _MOST_SHRUNK) + reasons,
            limit=self.max_bytes,
            steps=max(1, batch.n_steps + batch.n_nested),
            max_steps=self.max_steps,
        )
