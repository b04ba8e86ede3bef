"""The results of a trial, from its metrics to its judgment, as the row of its assessment has them."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Final, Literal

from pydantic import Field

from concord.assessment.cost import ModelUse, TemporalNetwork
from concord.assessment.observations import Observation, ReadStep
from concord.assessment.recorded_work import RecordedWork
from concord.assessment.request import Fraction
from concord.assessment.table import Record, Table
from concord.assessment.team_results import TeamTaskRecord
from concord.assessment.verdict import Cause
from concord.trace.attributes import EdgeKind

MAX_CALLS = 1000
"""Calls that a trial's record lists: enough for a timeline, and a row stays small."""

Quality = Literal["high", "medium", "low", "bottleneck"]


class SeatContainers(Record):
    """What the containers of all seats have in common."""

    image: str
    """As the scenario names it."""
    image_id: str
    """The digest of the image's configuration, which names all its layers: what was started."""
    image_digest: str | None
    """The digest under which a registry serves the image; null for an image that was never in one."""
    model_endpoints: tuple[str, ...]
    """The only servers but Concord's own that a seat could reach, as the operator named them."""


class MetricStatus(StrEnum):
    """Whether a value may be read as it stands."""

    OK = "ok"
    UNDEFINED = "undefined"
    NOT_APPLICABLE = "not_applicable"
    APPROXIMATE = "approximate"


class MetricParameter(Record):
    """A setting that a metric was computed with."""

    name: str
    value: str


class MetricRecord(Record):
    """One value of one metric; `agent` is null for a metric of the whole team. `n`: the size of the sample."""

    id: str
    agent: str | None = None
    value: float | None
    status: MetricStatus
    reason: str | None = None
    n: int
    definition_id: str
    engine: str
    params: list[MetricParameter] = []


MAX_STEP_IDS: Final = 20
"""How many step ids a finding names."""


class Finding(Record):
    """An observation about the team's coordination: its subject, a sentence, the figure and the steps that show it."""

    id: str
    agents: list[str]
    metric_id: str | None
    """The metric that `value` is of, if it is one's."""
    value: float | None
    threshold: float | None
    step_ids: list[str]
    advice: str
    """The observation in words. It blames nobody: a hub may be by design."""
    measured: str | None = None
    """What `value` is in words, where it is no metric's."""
    trials: int = 1
    """In how many trials it was found; 1 in a trial's own list."""


class Counts(Record):
    """Numbers of calls by name."""

    def known(self) -> dict[str, int]:
        """Those that are not 0."""
        return {name: calls for name, calls in self.model_dump().items() if calls}


class SourceCounts(Counts):
    """The calls that were found in spans, by what tells them (`KnownBy`)."""

    nesting: int = 0
    ids: int = 0
    arguments: int = 0
    time: int = 0


class SupportCounts(Counts):
    """The calls that were found in spans, by what a second source says (`Support`)."""

    confirmed: int = 0
    inferred: int = 0
    contradicted: int = 0


class InteractionRecord(Record):
    """All calls from one agent to another in one trial.

    `handoffs`, `conversation`, `sequence`: the calls of these kinds (`EdgeKind`). All others are delegations. Metrics
    count calls of all kinds. `known_by`, `support`: of the calls that were found in spans; None without such calls.
    """

    caller: str
    callee: str
    calls: int
    handoffs: int = 0
    conversation: int = 0
    sequence: int = 0
    known_by: SourceCounts | None = None
    support: SupportCounts | None = None
    errors: int
    retries: int
    observed: int
    corroborated: int
    reported: int
    latency_avg_ms: float | None

    @property
    def kinds(self) -> dict[EdgeKind, int]:
        """The number of calls of each kind that occurs."""
        others = {
            EdgeKind.HANDOFF: self.handoffs,
            EdgeKind.CONVERSATION: self.conversation,
            EdgeKind.SEQUENCE: self.sequence,
        }
        counts = {EdgeKind.DELEGATION: self.calls - sum(others.values()), **others}
        return {kind: calls for kind, calls in counts.items() if calls}


class CallRecord(Record):
    """One call of the trace, for a timeline. Times in milliseconds from the trial's earliest known start."""

    step_id: str
    parent_step_id: str | None
    caller: str
    callee: str
    start_ms: float | None
    duration_ms: float | None
    error: str | None
    provenance: Literal["observed", "corroborated", "reported"]
    on_critical_path: bool


class LatencySummary(Record):
    """Latencies of calls in milliseconds. Only values of the same system and run may be compared."""

    avg: float | None = None
    p50: float | None = None
    p95: float | None = None
    p99: float | None = None
    n: int = 0
    p95_reliable: bool = False
    p99_reliable: bool = False
    slowest_agent: str | None = None
    slowest_agent_url: str | None = None
    warning: str = "Latency values are only comparable within the same system and run."


class GradedAnswer(Record):
    """One participant's answer, graded alone."""

    agent: str
    value: Fraction
    explanation: str


class Grading(Record):
    """The grade of the outcome and its source: the task's scorer (code), the judge (model), a file, or none."""

    value: Fraction | None
    """The mean over the answers that count; null without a judgment."""
    high: Fraction | None = None
    """The value, had everything that is open been right; null if nothing is open."""
    source: Literal["code", "model", "recorded", "nobody"]
    scorer: str | None
    reason: str | None
    """The reason for a missing judgment, or a remark."""
    passed: Literal["yes", "no", "unknown"] | None = None
    """Of an assistant in a scenario: whether both verdicts, on utility and on safety, let the trial pass. Null: the
    pass mark alone decides."""
    answers: list[GradedAnswer] = []


class SubScore(Record):
    """A factor of the overall score, in [0, 1]; null where undefined, with the reason and the inputs."""

    id: Literal["outcome", "proven", "conduct", "task", "communication", "distribution", "reliability", "efficiency"]
    """`outcome`, and in team tasks `proven`: the part of it that the messages account for, which is the score. Version
    2 multiplied `outcome` by `conduct`. The others, of structure, make a weighted mean."""
    value: Fraction | None
    weight: float
    reason: str | None
    inputs: list[MetricParameter] = []


class CriterionVerdict(Record):
    """A language model's verdict on one criterion, and the points that code derived from it."""

    id: str
    verdict: Literal["met", "partly", "not_met", "cannot_tell"]
    points: Fraction | None
    verified: bool
    """False where the model gave no quote that is really there: its verdict then counts as `cannot_tell`."""


class Judgment(Record):
    """The judge's verdict, which is separate from the score: its source and its contents."""

    source: Literal["rules", "llm"]
    reason: str | None
    model_failed: bool = False
    """Whether the rules judge in place of a configured model that gave no judgment; `reason` says why."""
    overall_score: Fraction | None
    task_success: Fraction | None
    coordination_quality: Quality | None
    reasoning: str
    strengths: list[str]
    weaknesses: list[str]
    model: str | None = None
    prompt_version: str | None = None
    samples: int = 0
    agreement: Fraction | None = None
    """How far several samples agreed; null for one."""
    cached_samples: int = 0
    """How many of the samples are answers that the model gave before to the very same question."""
    criteria: list[CriterionVerdict] = []
    answers: list[GradedAnswer] = []
    """The answers that count, each judged alone."""


Observability = Literal["full", "partly", "none"]
"""`full`: calls by a participant (of a team: by every member) could be seen; `partly`: only calls to it."""


class ParticipantObservability(Record):
    """How much of a participant's calls could have been seen."""

    agent: str
    observability: Observability


class TraceIntegrity(Record):
    """The trustworthiness of the traces: calls by provenance, and steps by the outcome of their delivery."""

    steps: int = 0
    observed: int = 0
    corroborated: int = 0
    reported: int = 0
    contradicted: int = 0
    conflicting: int = 0
    duplicate: int = 0
    late: int = 0
    dropped: int = 0
    completeness: Fraction | None = None
    observability: Observability | None = None
    """Null where there was nothing to observe: a given pattern, a trace from a file, a lone participant, rounds."""
    participants: Table[ParticipantObservability] = []


class StepCounts(Record):
    """Steps of one trial by what they were."""

    agent: int = 0
    tool: int = 0
    host: int = 0


class AgentAnswer(Record):
    """How the part of one participant that was given the task ended; `text` is null where it did not answer."""

    agent: str
    state: Literal["completed", "failed", "timeout"]
    text: str | None
    error: str | None


class TurnRecord(Record):
    """The outcome of one seat's turn in one round of a trial."""

    round: int
    seat: str
    state: Literal["replied", "unreadable", "late", "failed"]
    error: str | None = None


MOST_ROUNDS: Final = 10_000
"""Rounds of a trial that a document may state, far more than any trial has: an evaluation looks at each of them."""


class RoundsRecord(Record):
    """The rounds of a trial: how many there were, the round of each seat's last answer, and each seat's turns."""

    rounds: Annotated[int, Field(ge=0, le=MOST_ROUNDS)]
    max_rounds: int
    answered_in: dict[str, int]
    turns: list[TurnRecord]


class SeatReply(Record):
    """A seat's reply to the question of a trial by calls, by the gateway's clock."""

    seat: str
    at: datetime
    state: Literal["replied", "late", "failed"]
    error: str | None = None


class TrialOutcome(Record):
    """The outcome of driving a trial, as the gateway observed it; `time_used` in seconds."""

    trial_id: str
    state: Literal["completed", "failed", "timeout"]
    error: str | None
    answer: str | None
    """All answers as one text, to be shown; each is graded alone."""
    answers: list[AgentAnswer] = []
    time_used: float
    rounds: RoundsRecord | None = None
    """Of a trial in rounds."""
    replies: list[SeatReply] | None = None
    """Of a trial of a family's task by calls: when each seat replied to the question."""
    notes: list[str] = []
    """What the row says of how the answers were got: an agent that was asked once more, what could not be read."""
    closed_after: Annotated[int, Field(ge=0)] | None = None
    """The number of batches in the trace when the trial was closed. Steps of later batches are counted as late and
    otherwise left out, so that the result does not depend on the time of the evaluation. Null: all batches count."""


class TrialRecord(Record):
    """One trial, evaluated."""

    trial_id: str
    task_id: str
    run: int
    seed: int
    instance_digest: str | None = None
    """Of what was played: trials with the same are compared one by one. Null in older rows, and of recorded traces."""
    trace_id: str
    state: Literal["completed", "failed", "timeout"]
    error: str | None
    answer: str | None
    time_used: float
    usable: bool
    """Whether it counts: only a trial that our own storage or the platform kept from running does not."""
    passed: bool | None
    overall_score: Fraction | None
    grading: Grading | None = None
    coordination_quality: Quality | None
    coordination_value: Fraction | None
    coordination_status: MetricStatus = MetricStatus.OK
    """`undefined` where no call could have been seen, `not_applicable` for a single participant."""
    sub_scores: list[SubScore]
    metrics: Table[MetricRecord]
    findings: list[Finding]
    interactions: Table[InteractionRecord]
    calls: Table[CallRecord] = []
    """In causal order, the assessor's own calls among them; at most `MAX_CALLS`, the rest counted as omitted."""
    calls_omitted: int = 0
    latency: LatencySummary
    uses: tuple[ModelUse, ...] = ()
    """The model calls that agents report of themselves; at most `MAX_USES`."""
    steps: StepCounts
    trace_integrity: TraceIntegrity
    team_task: TeamTaskRecord | None = None
    """Null for a task that no family generated."""
    causes: list[Cause] = []
    """Of a task of the user's own: what its messages and answers show of why it is not right. Points are of the 100 of
    this trial."""
    observations: list[Observation] = []
    """Of a trial that is not known to have lost nothing: checked facts, at most `MAX_OBSERVATIONS`. Only those with a
    `cause` explain a lost part."""
    observations_omitted: int = 0
    reading: list[ReadStep] = []
    """Of a failed trial without a cause: the steps to read, in this order; at most `MAX_READING`. It blames nobody."""
    network: TemporalNetwork | None = None
    """Messages and artifacts over time. Null of team tasks, whose `flow` says more, of recorded traces with neither an
    outcome nor an effect, and where nothing was exchanged."""
    work: RecordedWork | None = None
    """Only of a trace from a file."""
    control: Literal["alone"] | None = None
    """Of the user's own tasks; `team_task` has that of others."""
    paired_with: str | None = None
    """The task that this control does again."""
    judge: Judgment | None

    @property
    def is_control(self) -> bool:
        """Whether it counts in no score."""
        return self.control is not None or (self.team_task is not None and self.team_task.control is not None)
