"""The result row: one shape, always. Lists of records instead of data-dependent keys; null instead of absent."""

from datetime import datetime
from enum import StrEnum
from hashlib import sha256
from typing import Annotated, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from concord.assessment.cost import CoordinationFigures, Cost
from concord.assessment.request import Fraction, Mode
from concord.assessment.results import (
    Finding,
    Judgment,
    LatencySummary,
    MetricRecord,
    MetricStatus,
    Quality,
    SeatContainers,
    SubScore,
    TraceIntegrity,
    TrialRecord,
)
from concord.assessment.table import Record, Table
from concord.assessment.verdict import Verdict

# Whose a loss is: decides whether a lost trial is played again, and what it counts. Nothing else decides that.


class Loss(StrEnum):
    """What was lost of a trial, or of its evaluation."""

    NOT_BEGUN = "not_begun"
    """Storage did not answer before the trial's first message."""
    GATEWAY = "gateway"
    """The gateway ended while the trial ran."""
    STORAGE = "storage"
    """Storage did not answer while the trial ran."""
    STORAGE_FULL = "storage_full"
    """Storage had no room for the trial's messages."""
    ENVIRONMENT = "environment"
    """The scenario could not be played, or its environment ended."""
    WORKER = "worker"
    """No worker finished the evaluation or the judgment."""
    LIMIT = "limit"
    """What the participants wrote exceeded the trial's budget, or the CPU time or memory of an evaluation."""
    ERROR = "error"
    """The gateway raised an error while it played the trial, or the evaluator did."""


Cause = Literal["concord", "participants", "unknown"]
"""Who lost a trial. A trial that its participants lost is forfeited."""

FILLED: Final = 0.5
"""The share of storage from which on an assessment's own data have filled it."""

_REPRODUCIBLE: Final = frozenset({Loss.GATEWAY, Loss.STORAGE, Loss.WORKER})
"""What a trial's own bytes may cause without a trace. A second time in the same way, they are taken to be the cause."""


def cause_of(loss: Loss, *, again: bool = False, share: float | None = None) -> Cause:
    """Who caused a loss.

    `again`: whether the trial was lost in the same way before. `share`: the part of storage's memory limit that the
    assessment's own data take up (0 to 1), None if that is not known.
    """
    if loss is Loss.LIMIT or (again and loss in _REPRODUCIBLE):
        return "participants"
    if loss in {Loss.STORAGE, Loss.STORAGE_FULL} and share is not None and share >= FILLED:
        return "participants"
    if loss in {Loss.ENVIRONMENT, Loss.ERROR} or (loss is Loss.STORAGE_FULL and share is None):
        return "unknown"
    return "concord"


# The row.


class AgentRecord(Record):
    """One agent of the graph, over all trials."""

    id: str
    url: str | None
    agentbeats_id: str | None
    functions: list[str]
    declared: bool
    calls_made: int
    calls_received: int
    errors_received: int
    latency_avg_ms: float | None


class InfrastructureFailure(Record):
    """A failure of the infrastructure, and whose it is: see `concord.assessment.result_row`."""

    trial_id: str | None
    stage: Literal["contact", "trial", "evaluation", "judgment", "aggregation"]
    message: str
    attempt: int = 1
    """2 if the trial was being played again."""
    loss: Loss | None = None
    caused_by: Cause | None = None
    """Of a lost trial, evaluation or judgment. What the participants lost counts 0 also in `score_high`."""


class GraphMetricsSummary(Record):
    """The figures of the agent graph, over all usable trials."""

    graph_density: float | None
    has_bottleneck: bool | None
    isolated_agents: list[str]
    coordination_quality: Quality | None


Basis = Literal["outcome", "outcome_only", "structure", "recorded"]
"""A score rests on the proven outcome of a live team (of an assistant: its criteria), on an outcome without receipts,
on the structure of a given pattern, or on a recorded outcome."""


class Figure(Record):
    """A figure beside the score, from 0 to 1: its mean over the trials that have it, and its interval at 95 %."""

    value: Fraction
    low: Fraction | None
    high: Fraction | None
    trials: int


Isolation = Literal["isolated", "not isolated"]
"""Whether the seats of a team could share what no message brought: `isolated` if Concord itself started a container of
one image for each seat, without a shared volume and without a network but to Concord and to named model endpoints; `not
isolated` for all else, because separate addresses prove nothing."""


class RankingKind(Record):
    """What rows have in common that are ranked together. Names and the order of participants are no part of it."""

    version: str
    """Of the rules of scoring."""
    basis: Basis
    tasks: str
    """The name of the published manifest, else `families`, `own tasks`, `scenarios`, `patterns` or `traces`."""
    published: bool
    """Whether `tasks` is a manifest, played as a whole."""
    tasks_sha256: str | None
    """Of the tasks and how often each is played; null for patterns and traces, which are what the row assesses."""
    seats: tuple[int, ...]
    """The distinct numbers of seats of its team tasks, as those of the next three fields; empty without such tasks."""
    exchange: tuple[str, ...]
    difficulty: tuple[int, ...]
    topology: tuple[str, ...]
    isolation: Isolation
    complete: bool

    @property
    def digest(self) -> str:
        """A short digest of all fields (hex)."""
        return sha256(self.model_dump_json().encode()).hexdigest()[:DIGEST_LENGTH]

    def differing(self, other: "RankingKind") -> list[str]:
        """The names of the fields in which two kinds differ."""
        return [name for name in type(self).model_fields if getattr(self, name) != getattr(other, name)]


DIGEST_LENGTH: Final = 16
"""Hex digits of a ranking kind: the kinds are few, and nobody gains by a kind of their own."""


class ControlRecord(Record):
    """A control beside the team, over the trials that both did on the same instances. Outcomes are means, 0 to 1."""

    control: Literal["solo", "silent", "alone"]
    trials: int
    """Pairs of a team's trial and a control's, both with an outcome."""
    tasks: int | None = None
    """The different tasks of these pairs; null in older rows."""
    team: Fraction
    value: Fraction
    """For `solo`, of the agent that is best alone on the other tasks (cross-fitting)."""
    gap: float
    """Team minus control."""
    gap_low: float | None
    gap_high: float | None
    """An interval at 95 %, clustered by task; null for fewer than two tasks or trials. In a pair without an outcome,
    the worst is assumed for the lower end, and the best for the upper one."""
    cut_off: bool | None = None
    """Of `alone`: whether the starting agent was without its peers. False if one answered it in a control; null if its
    calls were not observed. Null for other controls."""


class Scoring(Record):
    """The making of the score: the version of the rules, the evidence behind it, and the mean of each factor."""

    version: str
    basis: Basis = "structure"
    """Rows of version 1 do not say: theirs rest on structure, and on the outcome where a model judged it."""
    pass_threshold: float
    usable_trials: int
    passed_trials: int
    judged_by_code: int = 0
    judged_by_model: int = 0
    judged_by_record: int = 0
    unjudged: int = 0
    """Trials without a judgment of their outcome. Each counts 0 in `score` and 1 in `score_high`."""
    forfeited: int = 0
    """Trials that the participants themselves lost. They are usable, with the outcome 0."""
    replayed: int = 0
    """Trials that were played a second time, because Concord lost the first."""
    complete: bool = True
    """Whether every planned trial was run and evaluated, or forfeited."""
    score_high: Annotated[float, Field(ge=0, le=100)] | None = None
    """The score, had every unjudged trial been perfect."""
    information: Figure | None = None
    """Of team tasks: the share of needed facts that reached those who needed them."""
    economy: Figure | None = None
    """Of passed team tasks: what a simple team sends, per message sent."""
    lift: ControlRecord | None = None
    """What the team adds to one agent: `alone` without its peers in the user's own tasks, `solo` with all briefs in
    team tasks. Null without such a control, and if all tasks are ones in which seats must agree."""
    ranking_kind: str | None = None
    """The digest of `ranking_parts`: rows are ranked together only if they have the same. Null before version 3."""
    ranking_parts: RankingKind | None = None
    sub_scores: list[SubScore]


class NativeFigures(Record):
    """The verdicts of a benchmark over the trials of scenarios that were imported from it."""

    benchmark: str
    utility: Figure
    """Trials in which the task is done, as the benchmark computes it."""
    attack_success: Figure | None
    """Of the trials with attacks, those in which one succeeded: AgentDojo's `security`; null without such trials."""


class AssistantFigures(Record):
    """An assistant in scenarios: shares of trials, with Wilson's intervals at 95 %.

    A trial passes with both verdicts, utility and safety.
    """

    utility: Figure
    """Trials in which the task is done."""
    safety: Figure
    """Trials in which no harm is done."""
    utility_under_attack: Figure | None
    """Of the trials with attacks, those in which the task is done; null without such trials, as the next one."""
    attack_success: Figure | None
    """The targeted attack success rate: of the trials with attacks, those in which one reached its goal."""
    vetoed: int
    """Trials without points because of harm."""
    native: tuple[NativeFigures, ...] = ()
    """By benchmark, its own verdicts on the trials of its scenarios."""


class PassPower(Record):
    """pass^k: how likely a task is to be passed k times in a row."""

    k: int
    value: Fraction


class Statistics(Record):
    """How far the figures may be trusted. Intervals at 95 %, null for fewer than two trials or tasks.

    `pass_rate` by Wilson, trials taken as independent; `score` by t, clustered by task. Both from 0 to 100.
    """

    scenarios: int
    trials: int
    pass_rate_low: float | None
    pass_rate_high: float | None
    score_low: float | None
    score_high: float | None
    score_method: Literal["t", "clustered t", "no scatter"] | None
    detectable: Annotated[float, Field(ge=0, le=100)] | None = None
    """The difference in points that a comparison with another row of as many trials, on the same puzzles, shows in 80 %
    of cases, if the differences scatter as this row's scores do. Null if not even the whole scale would show."""
    pass_power: list[PassPower]


class TaskRewards(Record):
    """The leaderboard's three columns, each continuous in [0, 1]."""

    overall_score: Fraction | None
    graph_density: float | None
    coordination_quality: Fraction | None


class Shard(Record):
    """Which part of an assessment a row is. A rank needs all `num_shards` of one plan, each once."""

    shard_index: Annotated[int, Field(ge=0)]
    """As in the config: from 0."""
    num_shards: Annotated[int, Field(ge=1)]
    plan_sha256: str
    """Of what the shards of one assessment have in common, whatever tasks are theirs: config and participants (hex)."""


class Detail(Record):
    """Everything behind the score."""

    assessment_id: str
    started_at: datetime | None = None
    """When the assessment was planned (UTC), or the first time in a recorded trace; null if unknown."""
    version: str | None = None
    """Of the recorded system, as its spans state it (`service.version`); null if they state none, or several."""
    mode: Mode
    shard: Shard | None = None
    """Null in rows of earlier versions, which do not say."""
    overall_score: Fraction | None
    reasoning: str
    coordination_quality: Quality | None
    coordination_status: MetricStatus = MetricStatus.OK
    confidence: Literal["insufficient", "low", "adequate"]
    strengths: list[str]
    weaknesses: list[str]
    graph_metrics: GraphMetricsSummary
    latency_metrics: LatencySummary
    agents: Table[AgentRecord]
    metrics: Table[MetricRecord]
    findings: list[Finding]
    trials: list[TrialRecord]
    judge: Judgment | None
    scoring: Scoring
    statistics: Statistics
    trace_integrity: TraceIntegrity
    infrastructure: list[InfrastructureFailure]
    controls: tuple[ControlRecord, ...] = ()
    coordination: CoordinationFigures | None = None
    """Of team tasks; null without any, and in rows of earlier versions."""
    cost: Cost | None = None
    """Null in older rows."""
    seat_containers: SeatContainers | None = None
    """The containers that Concord started for the seats; null where it did not, and the seats are not isolated."""
    planted_faults: int = 0
    """The faults that the request planted in the network of the seats. A row with any is never ranked."""
    task_secret_sha256: str | None = None
    """The commitment to the secret that families generated the tasks from; null without such tasks."""
    bundle_sha256: str | None = None
    """The SHA-256 of the bundle that the row can be computed from again; null without one."""
    verdict: Verdict | None = None
    """What a reader asks first, computed from the rest of the row; null in rows of earlier versions."""
    assistant: AssistantFigures | None = None
    """Of an assistant in scenarios; null for teams, and in rows of earlier versions."""
    assessment_results: JsonValue = None
    """Of scenarios, a list with an object for each trial (`data/schemas/assessment_results.schema.json`); else null."""
    warnings: list[str]


class ResultRow(Record):
    """One row of the leaderboard: the assessment of one team."""

    pass_rate: Annotated[float, Field(ge=0, le=100)] | None
    time_used: float
    max_score: float = 100
    domain: str = "graph-assessment"
    score: Annotated[float, Field(ge=0, le=100)] | None
    task_rewards: TaskRewards
    detail: Detail


class ResultsDocument(BaseModel):
    """`results.json`, as the platform's client and the gateway write it."""

    model_config = ConfigDict(frozen=True)

    participants: dict[str, str]
    results: list[ResultRow]
